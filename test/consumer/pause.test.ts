import t from 'tap'
import { Pause } from '../../src/consumer/pause.ts'

function openPause() {
  const clock = { nowMs: 1000, monotonicMs: () => clock.nowMs }
  const limits = { pauseMs: 100, waitingBytesMax: 64, msMin: 10, msMax: 40, spread: 0 }
  return { clock, pause: new Pause(clock, limits) }
}

t.test('steps are a pause apart, from begin to begin, unless much waits', async (t) => {
  const { clock, pause } = openPause()
  t.ok(pause.leftMs(1) <= 0, 'none before the first')
  pause.began()
  clock.nowMs += 30
  pause.applied()
  t.same([pause.leftMs(1), pause.leftMs(64), pause.leftMs(65)], [70, 70, 0])
  clock.nowMs += 70
  t.equal(pause.leftMs(1), 0)
})

t.test('whoever hurries waits for no pause, once', async (t) => {
  const { pause } = openPause()
  pause.began()
  pause.applied()
  pause.hurry()
  t.equal(pause.leftMs(1), 0)
  pause.began()
  pause.applied()
  t.equal(pause.leftMs(1), 100)
  pause.end()
  pause.began()
  pause.applied()
  t.equal(pause.leftMs(1), 0, 'and whoever ends for none at all')
})

t.test('after a failure everybody waits, longer each time, until a step applies', async (t) => {
  const { clock, pause } = openPause()
  for (const waitMs of [10, 20, 40, 40]) {
    pause.began()
    pause.failed()
    pause.hurry()
    pause.end()
    t.same([pause.isFailing, pause.leftMs(1), pause.leftMs(1e9)], [true, waitMs, waitMs])
    clock.nowMs += waitMs
  }
  pause.began()
  pause.applied()
  t.same([pause.isFailing, pause.leftMs(1)], [false, 0])
})
