import t from 'tap'
import { systemClock } from '../../src/lib/clock.ts'
import { watchLoopDelay } from '../../src/telemetry/loop-delay.ts'

// Looking keeps no process alive.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

t.test(
  'a pause of the main thread is told with what was left of it at the next look, and what of it was work',
  async (t) => {
    const told: [ms: number, workedMs: number][] = []
    const waited = { ms: 500 }
    const clock = { ms: 1000, nowMs: () => 0, monotonicMs: () => clock.ms }
    let look = (): void => {}
    const looked = () => new Promise<void>((resolve) => (look = resolve))
    const processorWait = { ms: () => waited.ms, close: () => {} }
    const late = (...delays: [ms: number, workedMs: number]): void => {
      told.push(delays)
      look()
    }
    const end = watchLoopDelay(clock, late, processorWait)
    t.teardown(end)
    for (const [ms, waitedMs] of [
      [10, 0],
      [25, 0],
      [10, 0],
      [3, 0],
      [31, 9],
      [25, 20],
      [10, 4],
    ] as const) {
      clock.ms += ms
      waited.ms += waitedMs
      await looked()
    }
    t.same(told, [
      [0, 0],
      [15, 15],
      [0, 0],
      [0, 0],
      [21, 12],
      [15, 0],
      [0, 0],
    ])
  },
)

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
