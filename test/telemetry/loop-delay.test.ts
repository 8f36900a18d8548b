import t from 'tap'
import { systemClock } from '../../src/lib/clock.ts'
import { watchLoopDelay } from '../../src/telemetry/loop-delay.ts'

// Looking keeps no process alive.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

t.test('a pause of the main thread is told with what was left of it at the next look', async (t) => {
  const told: number[] = []
  const clock = { ms: 1000, nowMs: () => 0, monotonicMs: () => clock.ms }
  let look = (): void => {}
  const looked = () => new Promise<void>((resolve) => (look = resolve))
  const end = watchLoopDelay(clock, (ms) => {
    told.push(ms)
    look()
  })
  t.teardown(end)
  for (const ms of [10, 25, 10, 3]) {
    clock.ms += ms
    await looked()
  }
  t.same(told, [0, 15, 0, 0])
})

t.test('real work that holds the thread up is seen', async (t) => {
  let end = async (): Promise<void> => {}
  const longest = await new Promise<number>((resolve) => {
    end = watchLoopDelay(systemClock, resolve)
    const untilMs = performance.now() + 60
    while (performance.now() < untilMs);
  })
  await end()
  t.ok(longest >= 49, `${longest} ms`)
})
