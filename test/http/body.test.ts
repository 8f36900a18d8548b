import t from 'tap'
import { Body, Budget } from '../../src/http/body.ts'
import { releaseMemory } from '../../src/release-memory.ts'

const limits = { bodyBytesHeldMax: 100, bigBodyBytesMin: 40, bigBodiesMax: 1 }
const bytes = (length: number, value = 1): ArrayBuffer => new Uint8Array(length).fill(value).buffer

t.test('keeps chunks in order in memory of exactly their size', async (t) => {
  const body = new Body(new Budget(limits), 64, 0)
  t.equal(body.add(bytes(3, 1)), 'kept')
  t.equal(body.add(bytes(2, 2)), 'kept')
  const taken = body.take()
  t.strictSame([...taken], [1, 1, 1, 2, 2])
  t.equal(taken.buffer.byteLength, 5)
})

t.test('small bodies that come whole share memory, each to itself, and it is not used again', async (t) => {
  const budget = new Budget({ ...limits, bodyBytesHeldMax: 1e6, bigBodyBytesMin: 1e5 })
  const bodies = Array.from({ length: 20 }, (_, index) => {
    const body = new Body(budget, 1e5, 8 * 1024)
    t.equal(body.add(bytes(8 * 1024, index)), 'kept')
    const taken = body.take()
    body.release()
    return taken
  })
  t.equal(budget.bytesHeld, 0)
  t.equal(new Set(bodies.map(({ buffer }) => buffer)).size, 3, 'eight in each')
  for (const [index, body] of bodies.entries()) {
    t.equal(body.length, 8 * 1024)
    t.ok(body.every((byte) => byte === index))
  }
})

t.test('what is larger, comes in pieces or did not say its length has memory of its own', async (t) => {
  const budget = new Budget({ ...limits, bodyBytesHeldMax: 1e6, bigBodyBytesMin: 1e5 })
  const takeOf = (declared: number, ...pieces: number[]): Uint8Array => {
    const body = new Body(budget, 1e5, declared)
    for (const piece of pieces) body.add(bytes(piece))
    return body.take()
  }
  for (const taken of [takeOf(8193, 8193), takeOf(10, 4, 6), takeOf(0, 10)]) {
    t.equal(taken.buffer.byteLength, taken.length)
  }
})

t.test('grows to the announced length and no further', async (t) => {
  const budget = new Budget(limits)
  const body = new Body(budget, 64, 33)
  body.add(bytes(20))
  t.equal(budget.bytesHeld, 20, 'what was only announced is not allocated')
  body.add(bytes(13))
  t.equal(budget.bytesHeld, 33)
})

t.test('large memory is gone as soon as a body has outgrown it, or is refused', async (t) => {
  const MiB = 1024 * 1024
  const budget = new Budget({ bodyBytesHeldMax: 64 * MiB, bigBodyBytesMin: MiB, bigBodiesMax: 1 })
  const chunk = bytes(4 * MiB)
  const before = process.memoryUsage().arrayBuffers
  const held = (): number => process.memoryUsage().arrayBuffers - before
  const body = new Body(budget, 24 * MiB, 0)
  for (let count = 0; count < 5; count++) t.equal(body.add(chunk), 'kept')
  t.ok(held() < 25 * MiB, 'the last of four')
  const taken = body.take()
  t.equal(taken.length, 20 * MiB)
  t.ok(held() < 21 * MiB, 'what is not of the body')
  body.release()
  t.equal(taken.length, 20 * MiB, 'not what was handed over')
  t.ok(taken.every((byte) => byte === 1))
  releaseMemory(taken.buffer)
  const refused = new Body(budget, 8 * MiB, 0)
  t.equal(refused.add(chunk), 'kept')
  t.equal(refused.add(chunk), 'kept')
  t.equal(refused.add(chunk), 'too_large')
  t.ok(held() < MiB)
})

t.test('holds nothing after a refusal', async (t) => {
  const budget = new Budget(limits)
  const body = new Body(budget, 30, 0)
  t.equal(body.add(bytes(30)), 'kept', 'at the limit')
  t.equal(body.add(bytes(1)), 'too_large', 'one byte over it')
  t.equal(budget.bytesHeld, 0)
})

t.test('counts a body until it is released, even when its memory was moved away', async (t) => {
  const budget = new Budget(limits)
  const body = new Body(budget, 64, 8)
  body.add(bytes(8))
  structuredClone(body.take().buffer, { transfer: [] })
  const other = new Body(budget, 64, 8)
  other.add(bytes(5))
  other.add(bytes(3))
  const taken = other.take()
  structuredClone(taken, { transfer: [taken.buffer] })
  t.equal(taken.byteLength, 0)
  t.equal(budget.bytesHeld, 16)
  body.release()
  other.release()
  other.release()
  t.equal(budget.bytesHeld, 0)
})

t.test('admits any body when nothing else is held, and none past the budget otherwise', async (t) => {
  const budget = new Budget({ ...limits, bigBodyBytesMin: 1000 })
  const large = new Body(budget, 500, 400)
  t.equal(large.add(bytes(400)), 'kept')
  const second = new Body(budget, 500, 10)
  t.equal(second.add(bytes(10)), 'overloaded')
  large.release()
  t.equal(second.add(bytes(10)), 'kept')
})

t.test('gives a big body one of the permits and takes it back', async (t) => {
  const budget = new Budget(limits)
  const first = new Body(budget, 64, 41)
  const second = new Body(budget, 64, 41)
  t.equal(first.add(bytes(41)), 'kept')
  t.equal(second.add(bytes(40)), 'kept', 'at the size that needs none')
  t.equal(second.add(bytes(1)), 'overloaded')
  first.release()
  t.equal(budget.bigBodies, 0)
  t.equal(budget.bytesHeld, 0)
})
