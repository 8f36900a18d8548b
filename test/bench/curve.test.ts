import t from 'tap'
import { besideOf, describeCurve, growthOf, type Point, pointOf } from '../../bench/curve.ts'
import type { Stretch } from '../../bench/ingest-side.ts'

const oneByOne: readonly Point[] = [
  { at: 100, cpuMicros: 5, perSecond: 2000 },
  { at: 1000, cpuMicros: 15, perSecond: 900 },
  { at: 10_000, cpuMicros: 20, perSecond: 500 },
]

/** 1,000 events that took so many µs each, in a second. */
function stretch(micros: number): Stretch {
  const duration = { seconds: 1, cpuSeconds: micros / 1000, stolenSeconds: 0 }
  return {
    events: 1000,
    requests: 1,
    acked: duration,
    queryable: duration,
    settled: duration,
    shares: { mainThread: 0, otherThreads: 0, postgres: 0 },
    journalBytes: 0,
    latencyMs: { p50: 0, p90: 0, p99: 0, max: 0 },
    overloaded: 0,
    generatorShare: 0,
  }
}

t.test('a curve says how the cost grows for each power of ten', async (t) => {
  t.same(describeCurve('stored', oneByOne), [
    { name: 'stored 100', value: '5.0 µs each, 2,000 a second' },
    { name: 'stored 1,000', value: '15.0 µs each, 900 a second' },
    { name: 'stored 10,000', value: '20.0 µs each, 500 a second' },
    { name: 'stored for each decade', value: '2.00× the cost' },
  ])
  t.equal(describeCurve('stored', oneByOne.slice(0, 1)).length, 1)
})

t.test('a machine that gets slower makes no difference to servers that take turns', async (t) => {
  // Each neighbour takes 4/5, while the machine comes to take three times as long.
  const samples = [10, 20, 30].map(stretch)
  const beside = besideOf(100, samples, [8, 16, 24].map(stretch))
  t.same(beside, { at: 100, cpuMicros: 16, times: { median: 1.25, min: 1.25, max: 1.25 } })
  const point = { ...pointOf(10_000, samples), beside }
  t.same(describeCurve('stored', [point]), [
    {
      name: 'stored 10,000',
      value: '20.0 µs each, 1,000 a second; in turn with 16.0 µs at 100, 1.25× of it',
    },
    { name: 'stored for each decade', value: '1.12× the cost' },
  ])
})

t.test('the last point is compared with what was measured beside it, not with the first', async (t) => {
  const times = { median: 4, min: 2, max: 6 }
  const last = { at: 10_000, cpuMicros: 40, perSecond: 1, beside: { at: 100, cpuMicros: 10, times } }
  t.match(growthOf([...oneByOne.slice(0, 2), last]), {
    first: { at: 100, cpuMicros: 10 },
    times,
    eachDecade: 2,
  })
  t.match(growthOf([last]), { eachDecade: 2 })
})
