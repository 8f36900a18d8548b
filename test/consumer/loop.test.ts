import t, { type Test } from 'tap'
import { Loop } from '../../src/consumer/loop.ts'
import { until } from '../support/until.ts'

/** A loop with so many turns to take; the next one after them is due in `laterMs`. */
function openLoop(t: Test, turn: () => Promise<void> = async () => {}) {
  const world = { left: 0, laterMs: Number.POSITIVE_INFINITY, taken: 0, atOnce: 0, failures: [] as unknown[] }
  const loop = new Loop({
    dueInMs: () => (world.left > 0 ? 0 : world.laterMs),
    async turn() {
      world.atOnce++
      world.left--
      world.taken++
      await turn()
      t.equal(world.atOnce, 1, 'one at a time')
      world.atOnce--
    },
    failed: (error) => world.failures.push(error),
  })
  t.teardown(() => loop.halt())
  return { world, loop }
}

t.test('takes turns until none is due, and again when woken', async (t) => {
  const { world, loop } = openLoop(t, () => new Promise(setImmediate))
  loop.wake()
  await loop.rest()
  t.equal(world.taken, 0)
  world.left = 3
  loop.wake()
  loop.wake()
  await loop.rest()
  t.equal(world.taken, 3)
  world.left = 1
  loop.wake()
  await loop.rest()
  t.equal(world.taken, 4)
})

t.test('wakes by itself when a turn is due later', async (t) => {
  const { world, loop } = openLoop(t)
  world.laterMs = 1
  loop.wake()
  await loop.rest()
  t.equal(world.taken, 0)
  world.left = 2
  await until(() => world.taken === 2)
})

t.test('takes no turn once it is halted', async (t) => {
  const { world, loop } = openLoop(t, async () => loop.halt())
  world.left = 3
  loop.wake()
  await loop.rest()
  t.same([world.taken, loop.isHalted], [1, true])
  loop.wake()
  await loop.rest()
  t.equal(world.taken, 1)
})

t.test('halts when a turn throws, and says so', async (t) => {
  const { world, loop } = openLoop(t, () => Promise.reject(new Error('lost')))
  world.left = 3
  loop.wake()
  await loop.rest()
  t.same([world.taken, loop.isHalted], [1, true])
  t.match(world.failures, [{ message: 'lost' }])
})
