import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** Of a process that sets a flag of V8 by `body`, where `heap` is the module under test. */
function complaintsAfter(body: string): string {
  const heap = fileURLToPath(new URL('../src/heap.js', import.meta.url))
  const code = `import * as heap from ${JSON.stringify(heap)}; import v8 from 'node:v8'; ${body}`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  })
  t.equal(status, 0)
  return stderr
}

t.test('tunes heaps by flags that this V8 has', async (t) => {
  // V8 has no other way to say that it knows a flag: what it does not know it complains about, and goes on.
  t.match(complaintsAfter("v8.setFlagsFromString('--heap-shrinking-percent=1')"), /heap-shrinking-percent/)
  t.equal(complaintsAfter('heap.tuneHeaps()'), '')
})
