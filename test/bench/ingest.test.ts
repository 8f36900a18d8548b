import t from 'tap'
import { ingest } from '../../bench/ingest.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.setTimeout(280_000)

t.test('a short run verifies what it measures', async (t) => {
  const options = { workload: 'w9', samples: '1', requests: '2', 'even-seconds': '1', cores: 'none' }
  const outcome = await checkPromises(t, ingest, options)
  // A tenth of each request is invalid, and nothing of that may be stored. How many requests the second at an even pace
  // has, and how many seconds until the disk was quiet around one, is the machine's to say.
  t.match(rowOf(outcome, 'w9 verified'), /^[1-9]\d{3,} events once, contents of [1-9]\d{3,}$/)
  t.match(rowOf(outcome, 'w9 CPU-s/million events'), /^[\d.,]+ \(/)
  t.match(rowOf(outcome, 'w9 freshness p95'), /^\d+ ms$/)
})
