import t from 'tap'
import { Backoff } from '../../src/consumer/backoff.ts'

function openBackoff(spread: number) {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs }
  return { clock, backoff: new Backoff(clock, { msMin: 100, msMax: 350, spread }) }
}

t.test('waits twice as long after each failure, up to its limit, until something succeeds', async (t) => {
  const { clock, backoff } = openBackoff(0)
  t.same([backoff.isFailing, backoff.leftMs()], [false, 0])
  for (const waitMs of [100, 200, 350, 350]) {
    backoff.failed()
    t.same([backoff.isFailing, backoff.leftMs()], [true, waitMs])
    clock.nowMs += waitMs
    t.equal(backoff.leftMs(), 0)
  }
  clock.nowMs += 7
  t.equal(backoff.leftMs(), -7)
  backoff.succeeded()
  t.same([backoff.isFailing, backoff.leftMs()], [false, 0])
  backoff.failed()
  t.equal(backoff.leftMs(), 100)
})

t.test('chance takes away no more of a wait than it may', async (t) => {
  const waits = Array.from({ length: 200 }, () => {
    const { backoff } = openBackoff(0.5)
    backoff.failed()
    return backoff.leftMs()
  })
  t.ok(Math.min(...waits) >= 50 && Math.max(...waits) <= 100)
  t.ok(new Set(waits).size > 1)
})
