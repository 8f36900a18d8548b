import t from 'tap'
import { figuresOf } from '../../bench/ingest-figures.ts'
import type { Duration, Stretch } from '../../bench/ingest-side.ts'

function stretch(acked: Duration, queryable: Duration, settled: Duration, p99 = 3): Stretch {
  const latencyMs = { p50: 1, p90: 2, p99, max: 10 }
  const counts = { events: 1000, requests: 50, journalBytes: 1_200_000, overloaded: 1, generatorShare: 0.2 }
  const shares = { mainThread: settled.cpuSeconds / 2, otherThreads: settled.cpuSeconds / 4, postgres: 0 }
  return { ...counts, acked, queryable, settled, shares, latencyMs }
}

const duration = (seconds: number, cpuSeconds: number, stolenSeconds = 0): Duration => ({
  seconds,
  cpuSeconds,
  stolenSeconds,
})

t.test('figures are medians over samples, of the time that the server had its core', async (t) => {
  const samples = [
    stretch(duration(1, 1), duration(2, 2), duration(4, 3)),
    // Half of the core was taken: it counts as if it had taken half as long.
    stretch(duration(4, 2, 2), duration(8, 4, 4), duration(9, 6, 3), 9),
    stretch(duration(1, 1), duration(4, 4), duration(5, 4), 2),
  ]
  const end = { peakRssBytes: 7, diskBytesPerEvent: 8, freshness: { p50Ms: 1, p95Ms: 2, maxMs: 3 } }
  const figures = figuresOf(samples, samples, end)
  t.same(figures.ackedPerSecond, { median: 1000, min: 500, max: 1000 })
  t.same(figures.requestsPerSecond, { median: 50, min: 25, max: 50 })
  t.same(figures.queryablePerSecond, { median: 250, min: 250, max: 500 })
  t.same(figures.cpuSecondsPerMillion, { median: 4000, min: 3000, max: 6000 })
  t.same(figures.cpuShares, { mainThread: 2000, otherThreads: 1000, postgres: 0 })
  t.equal(figures.evenBusyShare, 1)
  t.match(figures, { journalBytesPerEvent: 1200, freshnessP95Ms: 2, overloaded: 3 })
  t.same(figures.evenLatencyMs?.p99, { median: 3, min: 2, max: 9 })
  const withoutEven = figuresOf(samples, [], end)
  t.match(withoutEven, { evenLatencyMs: null, evenBusyShare: null })
})
