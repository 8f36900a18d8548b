import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isDiskQuiet, timeDiskAlone } from '../../bench/disk-alone.ts'

t.test('a disk by itself is timed by commits at an even rate, and its file removed', async (t) => {
  const file = join(t.testdir(), 'disk-alone')
  const load = { requestsPerSecond: 1000, seconds: 0.1, requestBytes: 1200 }
  const small = await timeDiskAlone({ file, ...load }, null)
  t.ok(small.p50 > 0 && small.p50 <= small.p99 && small.p99 <= small.max, JSON.stringify(small))
  t.notOk(existsSync(file))
  const large = await timeDiskAlone({ file, ...load, requestsPerSecond: 50, requestBytes: 3_000_000 }, null)
  t.ok(large.p50 > 0, 'requests larger than a group')
})

t.test('a disk that is slow on one side of a stretch is not quiet', async (t) => {
  const [quick, slow] = [2, 20].map((p99) => ({ p50: 1, p90: 1, p99, max: 50 }))
  t.ok(isDiskQuiet({ before: quick!, after: quick! }))
  t.notOk(isDiskQuiet({ before: quick!, after: slow! }))
  t.notOk(isDiskQuiet({ before: slow!, after: quick! }))
})
