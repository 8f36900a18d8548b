import t from 'tap'
import { forLanes, originOffset } from '../../src/consumer/offset.ts'
import type { StepOutcome } from '../../src/events/consumer.ts'
import { Pump } from '../../src/events/pump.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { until } from '../support/until.ts'

const MiB = 1024 * 1024

/** A store that loads up to 10 MiB a step, and a clock that the test moves. */
function world(outcomes: StepOutcome[] = []) {
  const state = {
    waiting: 0,
    isMoreComing: false,
    nowMs: 1_000_000,
    walBytes: 0,
    /** Reads keep checkpoints from happening. */
    isBlocked: false,
    log: [] as string[],
    failure: null as unknown,
  }
  const clock: Clock = { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs }
  const pump = new Pump(
    {
      waitingBytes: () => state.waiting,
      isMoreComing: () => state.isMoreComing,
      step: async () => {
        const bytes = Math.min(state.waiting, 10 * MiB)
        const outcome = outcomes.shift() ?? applied(bytes)
        state.log.push(outcome.kind)
        if (outcome.kind === 'applied') {
          state.waiting -= bytes
          state.walBytes += bytes
        }
        return { outcome, walBytes: state.walBytes, rowGroupBytes: 16 * MiB }
      },
      checkpoint: async () => {
        if (state.isBlocked) {
          state.log.push('no checkpoint')
          return { offsets: null, mirrored: null, walBytes: state.walBytes }
        }
        state.log.push('checkpoint')
        state.walBytes = 0
        return { offsets: forLanes(() => originOffset), mirrored: null, walBytes: 0 }
      },
      stepped: (outcome) => outcome.kind === 'applied' || outcome.kind === 'retry',
      failed: (error) => {
        state.failure = error
      },
    },
    clock,
  )
  t.teardown(() => pump.halt())
  return { pump, state }
}

function applied(bytes: number): StepOutcome {
  const counts = { events: 0, duplicates: 0, quarantined: 0 }
  return {
    kind: 'applied',
    offsets: forLanes(() => originOffset),
    counts,
    rows: 1,
    bytes,
    ms: 1,
    remarks: [],
  }
}

/** Lets everything happen that needs no timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate)
}

t.test('loads what waits, then rests', async (t) => {
  const { pump, state } = world()
  pump.wake()
  await settle()
  t.strictSame(state.log, [])
  state.waiting = 40 * MiB
  pump.wake()
  pump.wake()
  await settle()
  t.equal(state.waiting, 10 * MiB)
  state.nowMs += 437
  pump.wake()
  await settle()
  t.equal(state.waiting, 10 * MiB, '10 of 16 MiB in 437 ms are all of them in 699')
  state.nowMs += 1
  pump.wake()
  await settle()
  t.equal(state.waiting, 0)
  t.strictSame(state.log, ['applied', 'applied', 'applied', 'applied'])
})

t.test('pauses between small steps unless somebody waits', async (t) => {
  const { pump, state } = world()
  state.waiting = 100
  pump.wake()
  await settle()
  state.waiting = 100
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied'])
  pump.hurry()
  await settle()
  t.strictSame(state.log, ['applied', 'applied'])
  state.waiting = 100
  state.nowMs += 150
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied', 'applied', 'applied'])
})

t.test('the rest of a burst is loaded once nothing more is committed or being written', async (t) => {
  const { pump, state } = world()
  state.waiting = 40 * MiB
  pump.wake()
  await settle()
  t.equal(state.waiting, 10 * MiB)
  state.isMoreComing = true
  state.nowMs += 100
  // Looks again without saying that there is more to load.
  pump.wrote(state.walBytes)
  await settle()
  state.isMoreComing = false
  state.nowMs += 149
  pump.wrote(state.walBytes)
  await settle()
  t.equal(state.waiting, 10 * MiB, 'the journal was writing 149 ms ago')
  state.nowMs += 1
  pump.wrote(state.walBytes)
  await settle()
  t.equal(state.waiting, 0)
})

t.test('checkpoints when the write-ahead log is large', async (t) => {
  const { pump, state } = world()
  state.waiting = 200 * MiB
  pump.hurry()
  await until(() => state.log.includes('checkpoint'))
  t.equal(state.log.indexOf('checkpoint'), 13)
})

t.test('checkpoints after five minutes, and sooner in a quiet moment', async (t) => {
  const { pump, state } = world()
  state.waiting = 100
  pump.wake()
  await settle()
  state.nowMs += 299_000
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied'])
  state.nowMs += 1_000
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied', 'checkpoint'])

  state.waiting = 20 * MiB
  pump.hurry()
  await until(() => state.waiting === 0 || state.log.length === 3)
  state.nowMs += 438
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied', 'checkpoint', 'applied', 'applied'])
  state.nowMs += 5_000
  pump.wake()
  await settle()
  t.strictSame(state.log.at(-1), 'checkpoint')
})

t.test('tries a checkpoint again that did not happen, also when nothing more is loaded', async (t) => {
  const { pump, state } = world()
  state.isBlocked = true
  state.waiting = 100
  pump.wake()
  await settle()
  state.nowMs += 300_000
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied', 'no checkpoint'])
  state.isBlocked = false
  state.nowMs += 4_999
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied', 'no checkpoint'])
  state.nowMs += 1
  pump.wake()
  await settle()
  t.strictSame(state.log, ['applied', 'no checkpoint', 'checkpoint'])
  state.nowMs += 600_000
  pump.wake()
  await settle()
  t.equal(state.log.length, 3)
})

t.test('makes the first checkpoint of a run even if there is nothing to load', async (t) => {
  const { pump, state } = world()
  state.nowMs += 299_999
  pump.wake()
  await settle()
  t.strictSame(state.log, [])
  state.nowMs += 1
  pump.wake()
  await settle()
  t.strictSame(state.log, ['checkpoint'])
})

t.test('checkpoints what was written beside the steps as well', async (t) => {
  const { pump, state } = world()
  state.nowMs += 300_000
  pump.wake()
  await settle()
  t.strictSame(state.log, ['checkpoint'])
  pump.wrote(128 * MiB)
  await settle()
  t.strictSame(state.log, ['checkpoint', 'checkpoint'], 'at once when the write-ahead log is large')
  pump.wrote(100)
  state.nowMs += 299_999
  pump.wake()
  await settle()
  t.equal(state.log.length, 2)
  state.nowMs += 1
  pump.wake()
  await settle()
  t.equal(state.log.length, 3)
})

t.test('waits longer and longer while steps fail, and not at all when halving', async (t) => {
  const later: StepOutcome = { kind: 'retry', again: 'later', detail: 'IO Error' }
  const now: StepOutcome = { kind: 'retry', again: 'now', detail: 'Conversion Error' }
  const { pump, state } = world([now, now, later, later])
  state.waiting = 100
  pump.wake()
  await settle()
  t.strictSame(state.log, ['retry', 'retry', 'retry'])
  state.nowMs += 50
  pump.hurry()
  await settle()
  t.equal(state.log.length, 4)
  state.nowMs += 99
  pump.hurry()
  await settle()
  t.equal(state.log.length, 4)
  state.nowMs += 1
  pump.wake()
  await settle()
  t.strictSame(state.log.at(-1), 'applied')
})

t.test('stops for good when loading cannot go on', async (t) => {
  const { pump, state } = world([{ kind: 'stopped', detail: 'cannot' }])
  state.waiting = 100
  pump.wake()
  await settle()
  pump.wake()
  pump.hurry()
  await settle()
  t.strictSame(state.log, ['stopped'])
})

t.test('finishes with everything loaded and a checkpoint', async (t) => {
  const { pump, state } = world()
  state.waiting = 35 * MiB
  pump.wake()
  await pump.finish()
  t.strictSame(state.log, ['applied', 'applied', 'applied', 'applied', 'checkpoint'])
  pump.wake()
  await settle()
  t.equal(state.log.length, 5)
})
