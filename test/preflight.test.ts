import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from './support/source-tree.ts'

const script = join(projectRoot, 'src/preflight.cjs')
/** The script is plain JavaScript without types; this is the shape of its exports. */
const { nodeProblem, libcProblem } = createRequire(import.meta.url)(script) as {
  nodeProblem(version: string): string | null
  libcProblem(platform: string, glibc: string | undefined): string | null
}

t.test('accepts Node 20 from 20.20 and Node 22 from 22.22', async (t) => {
  for (const version of ['20.20.0', '20.21.3', '22.22.0']) t.equal(nodeProblem(version), null, version)
})

t.test('refuses other Nodes and names the remedy', async (t) => {
  for (const version of ['18.20.0', '20.19.6', '21.7.0', '22.21.1', '24.1.0'])
    t.match(nodeProblem(version), /this is Node .*Remedy: install Node 22/, version)
})

t.test('refuses an old glibc and other C libraries and names the remedy', async (t) => {
  t.equal(libcProblem('linux', '2.36'), null)
  t.equal(libcProblem('darwin', undefined), null)
  t.match(libcProblem('linux', '2.17'), /has 2\.17\. Remedy/)
  t.match(libcProblem('linux', undefined), /musl.*Remedy/)
})

t.test('exits 78 with the remedy on a machine that cannot run Spate', async (t) => {
  const fake = "Object.defineProperty(process.versions, 'node', { value: '18.0.0' });"
  const code = `${fake} process.argv[1] = ${JSON.stringify(script)}; require('node:module').runMain()`
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' })
  t.equal(status, 78)
  t.match(stderr, /this is Node 18\.0\.0/)
})
