import t from 'tap'
import { Body, Budget } from '../../src/http/body.ts'
import { releaseMemory } from '../../src/release-memory.ts'

const MiB = 1024 * 1024
const limits = { bodyBytesHeldMax: 100, bigBodyBytesMin: 40, bigBodiesMax: 1, bigBodyBytesKept: 0 }
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
  const budget = new Budget({ ...limits, bodyBytesHeldMax: 64 * MiB, bigBodyBytesMin: MiB })
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
  const second = new Body(budget, 64, 0)
  const honest = new Body(budget, 64, 41)
  t.equal(first.add(bytes(41)), 'kept')
  t.equal(second.add(bytes(40)), 'kept', 'at the size that needs none')
  t.equal(second.add(bytes(1)), 'overloaded')
  t.equal(honest.add(bytes(10)), 'kept')
  t.equal(honest.add(bytes(1)), 'overloaded', 'without the rest of it')
  first.release()
  t.equal(budget.bigBodies, 0)
  t.equal(budget.bytesHeld, 0)
})

const keeping = {
  bodyBytesHeldMax: 64 * MiB,
  bigBodyBytesMin: MiB,
  bigBodiesMax: 2,
  bigBodyBytesKept: 4 * MiB,
}

/** A budget whose memory for big bodies is ready. */
async function readyBudget(): Promise<Budget> {
  const budget = new Budget(keeping)
  await turns()
  return budget
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('big bodies land in the same memory, one after the other, wherever it has been', async (t) => {
  const budget = await readyBudget()
  const first = new Body(budget, 4 * MiB, 0)
  for (const value of [1, 2, 3]) t.equal(first.add(bytes(MiB, value)), 'kept')
  t.ok(first.isLent)
  t.equal(budget.bytesHeld, 4 * MiB, 'it is counted as it came')
  const taken = first.take()
  t.same([taken.length, taken.byteOffset, taken.buffer.byteLength], [3 * MiB, 0, 4 * MiB])
  t.same([taken[0], taken[MiB], taken[3 * MiB - 1]], [1, 2, 3])
  const moved = structuredClone(taken, { transfer: [taken.buffer] })
  first.giveBack(moved.buffer)
  first.release()
  first.release()
  await turns()
  for (const lentCount of [1, 2]) {
    const others = [new Body(budget, 4 * MiB, 3 * MiB), new Body(budget, 4 * MiB, 3 * MiB)]
    for (const other of others) t.equal(other.add(bytes(3 * MiB)), 'kept')
    t.equal(others.filter(({ isLent }) => isLent).length, lentCount, 'as many as came at once before')
    const memories = others.map((other) => other.take().buffer)
    t.equal(new Set(memories).size, 2, 'never two in one')
    t.ok(memories.includes(moved.buffer))
    for (const other of others) other.release()
    await turns()
  }
  const refused = new Body(budget, 2 * MiB, 0)
  t.equal(refused.add(bytes(2 * MiB)), 'kept')
  t.equal(refused.add(bytes(1)), 'too_large')
  const last = [new Body(budget, 4 * MiB, 0), new Body(budget, 4 * MiB, 0)]
  for (const body of last) body.add(bytes(2 * MiB))
  t.ok(
    last.every(({ isLent }) => isLent),
    'what was refused has left it, too',
  )
})

t.test('memory whose thread died with it is made anew', async (t) => {
  const budget = await readyBudget()
  for (let round = 0; round < 3; round++) {
    const body = new Body(budget, 4 * MiB, 0)
    t.equal(body.add(bytes(2 * MiB)), 'kept')
    t.ok(body.isLent)
    const { buffer } = body.take()
    structuredClone(buffer, { transfer: [buffer] })
    body.release()
    await turns()
  }
})

t.test('a body that outgrows what is kept goes on in memory of its own', async (t) => {
  const budget = await readyBudget()
  const body = new Body(budget, 20 * MiB, 0)
  t.equal(body.add(bytes(3 * MiB, 1)), 'kept')
  t.ok(body.isLent)
  t.equal(body.add(bytes(3 * MiB, 2)), 'kept')
  t.notOk(body.isLent)
  const taken = body.take()
  t.same([taken.length, taken[0], taken[3 * MiB]], [6 * MiB, 1, 2])
  t.equal(taken.buffer.byteLength, 6 * MiB)
  const next = new Body(budget, 4 * MiB, 0)
  next.add(bytes(2 * MiB))
  t.ok(next.isLent)
})
