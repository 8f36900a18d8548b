import t from 'tap'
import { DeliveryRest } from '../../src/exports/delivery-rest.ts'

const never = new AbortController().signal
const mebibyte = 1024 * 1024

/** A debt of twenty times the work, which time pays. */
function world() {
  const now = { ms: 0, owedMs: 0, rested: [] as number[] }
  const pass = (ms: number): void => {
    now.ms += ms
    now.owedMs = Math.max(0, now.owedMs - ms)
  }
  const givingWay = {
    restMs: (workedMs: number) => {
      now.owedMs += workedMs * 20
      return now.owedMs
    },
  }
  const sleep = async (ms: number): Promise<void> => {
    now.rested.push(ms)
    pass(ms)
  }
  return { now, pass, rest: new DeliveryRest(givingWay, { monotonicMs: () => now.ms }, sleep) }
}

t.test('rests for what a piece took, looks again on the way, and then for what is left', async (t) => {
  const { now, pass, rest } = world()
  await rest.end(never)
  const giveWay = rest.begin(150 * mebibyte, never)
  pass(60)
  await giveWay(100 * mebibyte)
  t.strictSame(now.rested, [500, 500, 200])
  await giveWay(10 * mebibyte)
  t.equal(now.ms, 1260)
  pass(10)
  await rest.end(never)
  t.equal(now.ms, 1470)
  await rest.end(never)
  t.equal(now.ms, 1470)
})

t.test('a destination that is slow is not rested for', async (t) => {
  const { now, pass, rest } = world()
  const giveWay = rest.begin(mebibyte, never)
  pass(60_000)
  await giveWay(mebibyte)
  t.strictSame(now.rested, [200])
})

t.test('who is stopped rests no longer', async (t) => {
  const { now, pass, rest } = world()
  rest.begin(100 * mebibyte, never)
  pass(1000)
  const stopping = AbortSignal.abort(new Error('cancelled'))
  await t.rejects(rest.end(stopping), { message: 'cancelled' })
  t.strictSame(now.rested, [500])
})
