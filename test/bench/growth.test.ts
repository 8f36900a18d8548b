import t from 'tap'
import { workloadNamed } from '../../bench/workload.ts'

t.test('a batch may have any size up to the largest', async (t) => {
  t.match(workloadNamed('batch-18000'), { eventCount: 18_000, requestCount: 2, encoding: 'gzip' })
  t.throws(() => workloadNamed('batch-18001'), /there is no workload batch-18001/)
  t.throws(() => workloadNamed('batch-0'), /there is no workload batch-0/)
})
