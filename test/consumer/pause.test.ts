import t from 'tap'
import { Pause } from '../../src/consumer/pause.ts'

function openPause() {
  const clock = { nowMs: 1000, monotonicMs: () => clock.nowMs }
  const limits = {
    pauseMs: 100,
    pauseMsMax: 250,
    waitingBytesMax: 64,
    gatherMsMax: 500,
    msMin: 10,
    msMax: 40,
    spread: 0,
  }
  return { clock, pause: new Pause(clock, limits) }
}

t.test('steps are a pause apart, from begin to begin, unless much waits', async (t) => {
  const { clock, pause } = openPause()
  t.ok(pause.leftMs(1) <= 0, 'none before the first')
  pause.began()
  clock.nowMs += 20
  pause.applied()
  t.same([pause.leftMs(1), pause.leftMs(64), pause.leftMs(65)], [80, 80, 0])
  clock.nowMs += 80
  t.equal(pause.leftMs(1), 0)
})

t.test('after a long step the pause is longer, up to a limit', async (t) => {
  const { clock, pause } = openPause()
  for (const [stepMs, leftMs] of [
    [25, 75],
    [26, 78],
    [60, 180],
    [70, 180],
    [300, -50],
  ] as const) {
    pause.began()
    clock.nowMs += stepMs
    pause.applied()
    t.equal(pause.leftMs(1), leftMs)
  }
})

t.test('a part of a step waits for the rest while that is coming soon', async (t) => {
  const { clock, pause } = openPause()
  pause.began()
  pause.grew()
  pause.applied()
  t.same([pause.leftMs(50, 200), pause.leftMs(199, 200), pause.leftMs(200, 200)], [100, 100, 0])
  clock.nowMs += 100
  pause.grew()
  t.equal(pause.leftMs(160, 200), 25, 'all of it 125 ms after the begin')
  t.equal(pause.leftMs(39, 200), 0, 'later than 500 ms after it')
  clock.nowMs += 200
  pause.grew()
  t.equal(pause.leftMs(192, 200), 12.5, 'it is slower than it was')
  t.equal(pause.leftMs(160), 0, 'nobody says what all of it is')
  clock.nowMs += 200
  pause.grew()
  t.equal(pause.leftMs(192, 200), 0, 'it does not come')
  pause.began()
  clock.nowMs += 100
  pause.grew()
  pause.hurry()
  t.equal(pause.leftMs(160, 200), 0)
})

t.test('a part does not wait once nothing more comes', async (t) => {
  const { clock, pause } = openPause()
  pause.began()
  pause.applied()
  clock.nowMs += 200
  pause.grew()
  t.equal(pause.leftMs(50, 200), 0, 'at this rate, all of it after more than 500 ms')
  t.equal(pause.leftMs(100, 200), 150, 'all of it would take 200 ms more')
  clock.nowMs += 40
  t.equal(pause.leftMs(100, 200), 110)
  clock.nowMs += 1
  pause.grew()
  t.equal(pause.leftMs(110, 200), 150, 'more has come')
  clock.nowMs += 9
  pause.began()
  clock.nowMs += 200
  t.equal(pause.leftMs(110, 200), 0, 'none since before the step')
})

t.test('nor within the pause, when somebody says what all of it is', async (t) => {
  const { clock, pause } = openPause()
  pause.grew()
  clock.nowMs += 60
  pause.began()
  clock.nowMs += 70
  pause.applied()
  t.same([pause.leftMs(50, 200), pause.leftMs(50)], [20, 180])
  clock.nowMs += 20
  t.same([pause.leftMs(50, 200), pause.leftMs(50)], [0, 160])
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
