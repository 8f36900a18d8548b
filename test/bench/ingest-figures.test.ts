import t from 'tap'
import { describeDisk, type EvenStretch, figuresOf } from '../../bench/ingest-figures.ts'
import type { Duration, Stretch } from '../../bench/ingest-side.ts'

function stretch(acked: Duration, queryable: Duration, settled: Duration, p99 = 3): Stretch {
  const latencyMs = { p50: 1, p90: 2, p99, max: 10 }
  const counts = { events: 1000, requests: 50, journalBytes: 1_200_000, overloaded: 1, generatorShare: 0.2 }
  const shares = { mainThread: settled.cpuSeconds / 2, otherThreads: settled.cpuSeconds / 4, postgres: 0 }
  return { ...counts, acked, queryable, settled, shares, latencyMs }
}

/** At an even rate, between seconds of the disk alone with those p99. */
function even(p99: number, beforeP99: number, afterP99: number): EvenStretch {
  const one = duration(1, 1)
  const disk = (ownP99: number) => ({ p50: 1, p90: 1, p99: ownP99, max: 100 })
  return { stretch: stretch(one, one, one, p99), disk: { before: disk(beforeP99), after: disk(afterP99) } }
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
  const figures = figuresOf(samples, [even(3, 2, 2), even(9, 2, 2), even(2, 2, 2)], end)
  t.same(figures.ackedPerSecond, { median: 1000, min: 500, max: 1000 })
  t.same(figures.requestsPerSecond, { median: 50, min: 25, max: 50 })
  t.same(figures.queryablePerSecond, { median: 250, min: 250, max: 500 })
  t.same(figures.cpuSecondsPerMillion, { median: 4000, min: 3000, max: 6000 })
  t.same(figures.cpuShares, { mainThread: 2000, otherThreads: 1000, postgres: 0 })
  t.equal(figures.evenBusyShare, 1)
  t.match(figures, { journalBytesPerEvent: 1200, freshnessP95Ms: 2, overloaded: 3 })
  t.same(figures.evenLatencyMs?.p99, { median: 3, min: 2, max: 9 })
  const withoutEven = figuresOf(samples, [], end)
  t.match(withoutEven, { evenLatencyMs: null, evenDisk: null, evenBusyShare: null })
})

t.test('latencies are of the stretches around which the disk by itself was quick', async (t) => {
  const end = { peakRssBytes: 7, diskBytesPerEvent: 8, freshness: null }
  const some = figuresOf([], [even(3, 2, 4), even(200, 4, 90), even(80, 90, 3), even(7, 3, 2)], end)
  t.same(some.evenLatencyMs?.p99, { median: 3, min: 3, max: 7 })
  t.match(some.evenDisk, { p99: { median: 3, min: 2, max: 90 }, quietCount: 2, count: 4, p99OfAll: 7 })
  t.equal(
    describeDisk(some.evenDisk!),
    'alone, in turn: p99 3.0 (2.0 to 90.0) ms, quiet around 2 of 4 stretches, which count; p99 of all 7.0 ms',
  )
  const none = figuresOf([], [even(200, 40, 90), even(80, 90, 30)], end)
  t.same(none.evenLatencyMs?.p99, { median: 80, min: 80, max: 200 }, 'of all where it never was')
  t.match(describeDisk(none.evenDisk!), /never quiet, so all 2 stretches count; p99 of all 80\.0 ms$/)
})
