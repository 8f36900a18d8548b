import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import t, { type Test } from 'tap'
import type { Decoded, Undecoded } from '../../src/capture/decode-pool.ts'
import { threadFlags } from '../../src/lib/thread-flags.ts'
import { task } from '../capture/tasks.ts'
import { partsOf } from '../journal/memory-journal.ts'

function openPool(t: Test): Piscina {
  const filename = fileURLToPath(new URL('./decode-or-count.js', import.meta.url))
  const pool = new Piscina({ filename, minThreads: 1, maxThreads: 1, execArgv: threadFlags })
  t.teardown(() => pool.destroy())
  return pool
}

t.test('a thread keeps no ports of parcels that were taken out', async (t) => {
  const pool = openPool(t)
  const properties = { filler: 'x'.repeat(5000) }
  const text = JSON.stringify({
    api_key: 'phc_test',
    batch: Array.from({ length: 1000 }, () => ({ event: 'e', distinct_id: 'u', properties })),
  })
  const counts: number[] = []
  for (let round = 0; round < 9; round++) {
    const asked: Undecoded = { task: task(text), isLent: false }
    const decoded = await pool.run(asked, { transferList: [asked.task.body.buffer] })
    const { outcome } = decoded as Decoded // what the thread's export returns
    if (outcome.kind !== 'captured' || outcome.events === null) throw new Error(`no events: ${outcome.kind}`)
    t.ok('port' in outcome.events.chain)
    t.ok(partsOf(outcome.events.chain).length > 0)
    if (round % 3 === 2) counts.push((await pool.run('ports')) as number)
  }
  t.ok(counts[2]! <= counts[0]! + 2, `after 3, 6 and 9 of them: ${counts}`)
})
