import t from 'tap'
import { type CaptureProject, encodeProjects, findProject } from '../../src/capture/projects.ts'

const acme: CaptureProject = { id: 1, apiKey: 'phc_acme', anonymizeIps: false, overQuota: false }
const bolt: CaptureProject = { id: 2, apiKey: 'phc_bolt', anonymizeIps: true, overQuota: true }

t.test('finds a project by its key', async (t) => {
  const snapshot = encodeProjects([acme, bolt])
  t.same(findProject(snapshot, 'phc_acme'), acme)
  t.same(findProject(snapshot, 'phc_bolt'), bolt)
})

t.test('knows no project of another key', async (t) => {
  const snapshot = encodeProjects([acme])
  t.equal(findProject(snapshot, 'phc_bolt'), null)
  t.equal(findProject(snapshot, ''), null)
  t.equal(findProject(snapshot, '__proto__'), null)
  t.equal(findProject(encodeProjects([]), 'phc_acme'), null)
})

t.test('answers each request from the snapshot it came with', async (t) => {
  const before = encodeProjects([acme])
  const after = encodeProjects([{ ...acme, overQuota: true }])
  t.equal(findProject(before, 'phc_acme')?.overQuota, false)
  t.equal(findProject(after, 'phc_acme')?.overQuota, true)
  t.equal(findProject(before, 'phc_acme')?.overQuota, false)
})
