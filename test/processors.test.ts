import { cpus } from 'node:os'
import t from 'tap'
import { idleMs, processorCount } from '../src/processors.ts'

t.test('the processors of this machine are asked', async (t) => {
  t.ok(processorCount() >= 1 && processorCount() <= cpus().length)
  const first = idleMs()
  t.ok(first > 0)
  t.ok(idleMs() >= first)
})
