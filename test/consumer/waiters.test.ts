import t from 'tap'
import { forLanes, type Offsets } from '../../src/consumer/offset.ts'
import { Waiters } from '../../src/consumer/waiters.ts'
import type { Position } from '../../src/journal/journal.ts'

const at = (position: number) => position as Position // made up for these tests
const offsets = (position: number): Offsets => forLanes(() => ({ position: at(position), index: 0 }))

t.test('lets go of those whose position is reached, and of all others with an error', async (t) => {
  const waiters = new Waiters()
  const near = waiters.wait('realtime', at(100))
  const far = waiters.wait('historical', at(101))
  waiters.settle(offsets(99))
  t.equal(waiters.count, 2)
  waiters.settle(offsets(100))
  t.equal(waiters.count, 1)
  await near
  waiters.reject(new Error('the end'))
  t.equal(waiters.count, 0)
  await t.rejects(far, /the end/)
})
