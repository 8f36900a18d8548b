import t from 'tap'
import { GivingWay } from '../../src/events/giving-way.ts'

/** Readers that work 10 ms at a time for 100 s, with `idle` processors of `processors` idle while nobody reads. */
function settle({ processors = 2, idle = 0, readers = 1, isIngesting = () => true }) {
  const now = { ms: 0, idleMs: 0 }
  const way = new GivingWay({
    clock: { monotonicMs: () => now.ms },
    isIngesting,
    idleMs: () => now.idleMs,
    processors,
  })
  const wakeMs = Array.from({ length: readers }, () => 0)
  let workedMs = 0
  for (; now.ms < 100_000; now.ms++) {
    const working = wakeMs.findIndex((ms) => ms <= now.ms)
    now.idleMs += Math.max(0, idle - (working === -1 ? 0 : 1))
    if (working === -1) continue
    workedMs++
    if (workedMs % 10 === 0) wakeMs[working] = now.ms + 1 + way.restMs(10)
  }
  return workedMs / now.ms
}

t.test('readers have a twentieth of busy processors together', async (t) => {
  for (const readers of [1, 2, 5]) {
    const share = settle({ readers })
    t.ok(share > 0.09 && share < 0.11, `${readers}: ${share}`)
  }
  const onOne = settle({ processors: 1 })
  t.ok(onOne > 0.045 && onOne < 0.055, String(onOne))
})

t.test('they have most of what is idle, and all of a processor when another one is', async (t) => {
  const half = settle({ processors: 4, idle: 0.5 })
  t.ok(half > 0.45 && half < 0.65, String(half))
  t.ok(settle({ idle: 1.5 }) > 0.9)
})

t.test('nobody rests while no events come in, nor for what was owed before', async (t) => {
  t.ok(settle({ isIngesting: () => false }) > 0.99)
  const now = { ms: 0, isIngesting: true }
  const way = new GivingWay({
    clock: { monotonicMs: () => now.ms },
    isIngesting: () => now.isIngesting,
    idleMs: () => 0,
    processors: 1,
  })
  t.equal(way.isWanted, true)
  t.equal(way.restMs(100), 2000)
  now.ms += 500
  t.equal(way.restMs(0), 1500)
  now.isIngesting = false
  t.equal(way.restMs(100), 0)
  now.isIngesting = true
  t.equal(way.restMs(0), 0)
})

t.test('what a reader waited for is not owed for ever', async (t) => {
  const way = new GivingWay({
    clock: { monotonicMs: () => 0 },
    isIngesting: () => true,
    idleMs: () => 0,
    processors: 2,
  })
  t.equal(way.restMs(1_000_000), 60_000)
})
