import t from 'tap'
import { describeCurve } from '../../bench/growth.ts'
import { workloadNamed } from '../../bench/workload.ts'

t.test('a curve says how the cost grows for each power of ten', async (t) => {
  const points = [
    { at: 100, cpuMicros: 5, perSecond: 2000 },
    { at: 1000, cpuMicros: 15, perSecond: 900 },
    { at: 10_000, cpuMicros: 20, perSecond: 500 },
  ]
  t.same(describeCurve('stored', points), [
    { name: 'stored 100', value: '5.0 µs each, 2,000 a second' },
    { name: 'stored 1,000', value: '15.0 µs each, 900 a second' },
    { name: 'stored 10,000', value: '20.0 µs each, 500 a second' },
    { name: 'stored for each decade', value: '2.00× the cost' },
  ])
  t.equal(describeCurve('stored', points.slice(0, 1)).length, 1)
})

t.test('a batch may have any size up to the largest', async (t) => {
  t.match(workloadNamed('batch-18000'), { eventCount: 18_000, requestCount: 2, encoding: 'gzip' })
  t.throws(() => workloadNamed('batch-18001'), /there is no workload batch-18001/)
  t.throws(() => workloadNamed('batch-0'), /there is no workload batch-0/)
})
