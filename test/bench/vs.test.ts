import t from 'tap'
import { vs } from '../../bench/vs.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.test('a peer takes each event of single requests and of batches once', async (t) => {
  const options = { workload: 'w2,w1', peers: 'node', samples: '1', share: '0.01', cores: 'none' }
  const outcome = await checkPromises(t, vs, options)
  for (const name of ['w1', 'w2']) {
    const row = rowOf(outcome, `${name} plain Node.js, DuckDB appender`)
    t.match(
      row,
      /µs CPU an event, [\d,.]+ .* events\/s acked; 1\.00× the first; ack: committed to DuckDB's log/,
    )
  }
})
