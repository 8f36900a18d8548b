import t from 'tap'
import { createCorpus } from '../../bench/corpus.ts'
import { RequestBytes } from '../../bench/request-bytes.ts'
import { workloadNamed } from '../../bench/workload.ts'

t.test('a batch may have any size up to the largest', async (t) => {
  t.match(workloadNamed('batch-18000'), { eventCount: 18_000, requestCount: 2, encoding: 'gzip' })
  t.throws(() => workloadNamed('batch-18001'), /there is no workload batch-18001/)
  t.throws(() => workloadNamed('batch-0'), /there is no workload batch-0/)
})

t.test('requests of many projects are for each in turn', async (t) => {
  const workload = workloadNamed('projects-100')
  t.match(workload, { eventCount: 1, projectCount: 100 })
  const bytes = new RequestBytes(createCorpus(1, 'phc_benchProjectKey'), workload)
  const keys = Array.from({ length: 300 }, (_, number) => {
    const [head = '', body = ''] = bytes.bytesOf(number).toString().split('\r\n\r\n')
    t.equal(Number(/Content-Length: (\d+)/.exec(head)?.[1]), Buffer.byteLength(body))
    return JSON.parse(body).api_key
  })
  t.same(keys.slice(0, 3), ['phc_benchProjectKey', 'phc_benchProjectKe1', 'phc_benchProjectKe2'])
  t.equal(new Set(keys).size, 100)
  t.same(keys.slice(100, 200), keys.slice(0, 100))
  t.throws(() => workloadNamed('projects-100001'), /there is no workload/)
})
