import t from 'tap'
import { ingest } from '../../bench/ingest.ts'
import { planOf, runInTurn } from '../../bench/ingest-run.ts'
import { parseCores } from '../../bench/pinned.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.setTimeout(280_000)

t.test('a short run verifies what it measures', async (t) => {
  const few = { samples: '1', requests: '2', 'warm-ups': '3', 'even-seconds': '1', 'even-tries': '1' }
  const options = { workload: 'w9', ...few, cores: 'none' }
  const outcome = await checkPromises(t, ingest, options)
  // A tenth of each request is invalid, and nothing of that may be stored. How many requests the second at an even pace
  // has is the machine's to say.
  t.match(rowOf(outcome, 'w9 verified'), /^([1-9]\d{3,}) events once, contents of \1$/)
  t.match(rowOf(outcome, 'w9 CPU-s/million events'), /^[\d.,]+ \(/)
  t.match(rowOf(outcome, 'w9 freshness p95'), /^\d+ ms$/)
})

t.test('servers with workloads of their own take turns, each judged by what it was sent', async (t) => {
  const said: string[] = []
  const plans = ['w3', 'w2'].map((workload) => {
    const cores = parseCores('none')
    return { ...planOf(workload, true), requests: 2, samples: 2, evenSeconds: 0, cores }
  })
  const reports = await runInTurn(plans, t.testdir(), (line) => said.push(line))
  t.same(
    reports.map(({ broken, verdict }) => [broken, verdict.acknowledgedEvents]),
    [
      [[], 3 * 2 * 1000],
      [[], 3 * 2 * 20],
    ],
  )
  const order = said.flatMap((line) => /^([AB]) sample \d/.exec(line)?.[0] ?? [])
  t.same(order, ['A sample 1', 'B sample 1', 'A sample 2', 'B sample 2'])
})
