import t, { type Test } from 'tap'
import { type Next, Pump } from '../../src/persons/pump.ts'
import { until } from '../support/until.ts'

/** A pump over `waiting` bytes, each step of which takes them all; its clock moves by hand. */
function openPump(t: Test, next: () => Next | Promise<Next> = () => 'again') {
  const world = { waiting: 0, steps: 0, nowMs: 0, failures: [] as unknown[] }
  const pump = new Pump(
    {
      waitingBytes: () => world.waiting,
      async step() {
        world.steps++
        const said = await next()
        if (said === 'again') world.waiting = 0
        return said
      },
      failed: (error) => world.failures.push(error),
    },
    { nowMs: () => world.nowMs, monotonicMs: () => world.nowMs },
  )
  t.teardown(() => pump.halt())
  return { world, pump }
}

t.test('steps when something waits, and pauses between small steps', async (t) => {
  const { world, pump } = openPump(t)
  pump.wake()
  t.equal(world.steps, 0)
  world.waiting = 8
  pump.wake()
  await until(() => world.steps === 1)
  world.waiting = 8
  pump.wake()
  t.equal(world.steps, 1)
  world.nowMs += 100
  pump.wake()
  await until(() => world.steps === 2)
})

t.test('does not pause for those who wait, nor with much to do', async (t) => {
  const { world, pump } = openPump(t)
  for (const [waiting, isHurried] of [
    [8, true],
    [8, true],
    [17_000_000, false],
  ] as const) {
    const { steps } = world
    world.waiting = waiting
    if (isHurried) pump.hurry()
    else pump.wake()
    await until(() => world.steps === steps + 1 && world.waiting === 0)
  }
})

t.test('waits longer after each failure, hurried or not, and at most ten seconds', async (t) => {
  const { world, pump } = openPump(t, () => 'later')
  world.waiting = 8
  for (const [failures, waitMsMax] of [
    [1, 100],
    [2, 200],
    [3, 400],
  ] as const) {
    pump.wake()
    await until(() => world.steps === failures)
    world.nowMs += waitMsMax / 2 - 1
    pump.hurry()
    t.equal(world.steps, failures)
    world.nowMs += waitMsMax / 2 + 1
  }
  for (let i = 4; i < 12; i++) {
    pump.wake()
    await until(() => world.steps === i)
    world.nowMs += 10_000
  }
})

t.test('finishes what waits, stops at a failure, and gives up when time is over', async (t) => {
  const well = openPump(t)
  well.world.waiting = 8
  t.equal(await well.pump.finish(5000), true)
  t.equal(well.world.steps, 1)
  well.world.waiting = 8
  well.pump.hurry()
  t.equal(well.world.steps, 1)

  const failing = openPump(t, () => 'later')
  failing.world.waiting = 8
  t.equal(await failing.pump.finish(5000), true)
  t.equal(failing.world.steps, 1)

  const hanging = openPump(t, () => new Promise<Next>(() => {}))
  hanging.world.waiting = 8
  t.equal(await hanging.pump.finish(1), false)
})

t.test('halts for good when told so or when a step throws', async (t) => {
  const told = openPump(t, () => 'halt')
  told.world.waiting = 8
  told.pump.wake()
  await until(() => told.world.steps === 1)
  told.pump.hurry()
  t.equal(told.world.steps, 1)

  const thrown = openPump(t, () => Promise.reject(new Error('lost')))
  thrown.world.waiting = 8
  thrown.pump.wake()
  await until(() => thrown.world.failures.length === 1)
  thrown.pump.hurry()
  t.equal(thrown.world.steps, 1)
})
