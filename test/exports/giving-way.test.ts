import t from 'tap'
import { GivingWay } from '../../src/exports/giving-way.ts'

const mebibyte = 1024 * 1024
const never = new AbortController().signal

/** Chunks of 1 s while `perSecond` bytes come in and `idle` processors have nothing to do. */
function world() {
  const now = { ms: 0, bytes: 0, idleMs: 0 }
  const rates = { bytes: 10 * mebibyte, idle: 0 }
  const pass = async (ms: number): Promise<void> => {
    now.ms += ms
    now.bytes += (rates.bytes * ms) / 1000
    now.idleMs += rates.idle * ms
  }
  const way = new GivingWay({
    clock: { monotonicMs: () => now.ms },
    ingestedBytes: () => now.bytes,
    idleMs: () => now.idleMs,
    sleep: pass,
  })
  return { now, rates, run: (ms: number, signal = never) => way.run(signal, () => pass(ms)) }
}

t.test('exports take a sixteenth of busy processors while events come in', async (t) => {
  const { now, run } = world()
  await run(1000)
  t.equal(now.ms, 1000)
  for (let chunk = 2; chunk <= 10; chunk++) {
    await run(1000)
    t.equal(now.ms, 16_000 * (chunk - 1) + 1000)
  }
})

t.test('a processor that is idle, or no events, let them go on', async (t) => {
  for (const change of [{ idle: 0.25 }, { bytes: mebibyte - 1 }, { bytes: 0 }]) {
    const { now, rates, run } = world()
    await run(1000)
    Object.assign(rates, change)
    await run(1000)
    t.equal(now.ms, 2500)
  }
})

t.test('without events nothing is owed', async (t) => {
  const { now, rates, run } = world()
  rates.bytes = 0
  for (let chunk = 1; chunk <= 3; chunk++) await run(1000)
  t.equal(now.ms, 3000)
})

t.test('a chunk that took long is not waited for longer than a minute', async (t) => {
  const { now, run } = world()
  await run(100_000)
  await run(1000)
  t.equal(now.ms, 161_000)
})

t.test('what fails owes as much, and who is stopped waits no longer', async (t) => {
  const { now, rates, run } = world()
  await run(1000)
  const stopping = new AbortController()
  rates.idle = 0
  stopping.abort(new Error('cancelled'))
  await t.rejects(run(1000, stopping.signal), { message: 'cancelled' })
  t.equal(now.ms, 1500)
})

t.test('the processors of this machine are asked', async (t) => {
  let bytes = 0
  const way = new GivingWay({
    clock: { monotonicMs: () => performance.now() },
    // More with every look, for one chunk; then none.
    ingestedBytes: () => {
      bytes = Math.min(bytes + 50 * mebibyte, 100 * mebibyte)
      return bytes
    },
  })
  t.equal(await way.run(never, async () => 1), 1)
  t.equal(await way.run(never, async () => 2), 2)
})
