import t from 'tap'
import { ingest } from '../../bench/ingest.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.setTimeout(120_000)

t.test('a short run verifies what it measures', async (t) => {
  const options = { workload: 'w9', samples: '1', requests: '2', 'even-seconds': '1', cores: 'none' }
  const outcome = await checkPromises(t, ingest, options)
  // A tenth of each request is invalid, and nothing of that may be stored.
  t.match(
    rowOf(outcome, 'w9 verified'),
    /^(?:[7-9]|1[01])\d{3} events once, contents of (?:[7-9]|1[01])\d{3}$/,
  )
  t.match(rowOf(outcome, 'w9 CPU-s/million events'), /^[\d.,]+ \(/)
  t.match(rowOf(outcome, 'w9 freshness p95'), /^\d+ ms$/)
})
