import t from 'tap'
import { figuresOf } from '../../bench/ingest-figures.ts'
import type { Stretch } from '../../bench/ingest-side.ts'
import { latencyBound, rateBound } from '../../bench/suite-bound.ts'

const latencyMs = { p50: 1.26, p90: 2, p99: 3, max: 40 }
const stages = { inflate: 2, scan: 4, load: 6.4, fold: 5, 'the same by lz-string': 90 }

/** Of 1,000 events in two seconds, of which the server used `cpuSeconds`. */
function report(cpuSeconds: number, generatorShare = 0.2) {
  const duration = { seconds: 2, cpuSeconds, stolenSeconds: 0 }
  const stretch: Stretch = {
    events: 1000,
    requests: 1,
    acked: duration,
    queryable: duration,
    settled: duration,
    shares: { mainThread: cpuSeconds / 2, otherThreads: cpuSeconds / 4, postgres: cpuSeconds / 4 },
    journalBytes: 0,
    latencyMs,
    overloaded: 0,
    generatorShare,
  }
  const end = { peakRssBytes: 7, diskBytesPerEvent: 8, freshness: null }
  const quiet = { p50: 0.5, p90: 1, p99: 2.4, max: 9 }
  const even = { stretch, disk: { before: quiet, after: quiet } }
  return { samples: [stretch], figures: figuresOf([stretch], [even], end) }
}

t.test('a rate is bounded by the core, whose time is told by threads and stages', async (t) => {
  t.equal(
    rateBound('w3', report(1.8), stages, 'acked'),
    'the core: 1800 µs an event, of which main thread 900, other threads 450, Postgres 450; ' +
      'stages alone 17: load 6.4, fold 5.0, scan 4.0 …',
  )
  t.notMatch(rateBound('w1', report(1.8), stages, 'acked'), 'stages', 'of large batches')
  t.notMatch(rateBound('w3', report(1.8), {}, 'acked'), 'stages', 'not measured')
})

t.test(
  'a rate is bounded by waiting where the core is idle, and by the generator where that is busy',
  async (t) => {
    t.match(
      rateBound('w3', report(1.6), stages, 'acked'),
      /^waiting: the core is busy 80 %; 1600 µs an event/,
    )
    t.equal(rateBound('w3', report(1.6, 0.95), stages, 'acked'), 'the generator')
  },
)

t.test('a latency is bounded by the disk and by who shares the core', async (t) => {
  t.equal(
    latencyBound(report(0.9)),
    'fsync, and threads that share a core busy 45 %: p50 1.3, max 40 ms; ' +
      'the disk alone, in turn: p99 2.4 (2.4 to 2.4) ms, quiet around 1 of 1 stretches, which count; p99 of all 3.0 ms',
  )
})
