import t from 'tap'
import { readinessOf } from '../../src/telemetry/health.ts'

const postgresDown = { component: 'postgres', reason: 'not reachable', stopsCapture: false }
const diskFull = { component: 'journal', reason: 'the disk is full', stopsCapture: true }

t.test('is ok when nothing is wrong', async (t) => {
  t.same(readinessOf([]), { status: 'ok', reasons: [] })
})

t.test('is degraded, not unavailable, while capture can still accept', async (t) => {
  t.same(readinessOf([postgresDown]), {
    status: 'degraded',
    reasons: [{ component: 'postgres', reason: 'not reachable' }],
  })
})

t.test('is unavailable when capture cannot accept, and names that reason first', async (t) => {
  t.same(readinessOf([postgresDown, diskFull]), {
    status: 'unavailable',
    reasons: [
      { component: 'journal', reason: 'the disk is full' },
      { component: 'postgres', reason: 'not reachable' },
    ],
  })
})
