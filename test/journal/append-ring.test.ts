import t from 'tap'
import { AppendRing, type Chain, createRingMemory } from '../../src/journal/append-ring.ts'
import type { JournalPart } from '../../src/journal/journal.ts'

function eventsPart(payloadBytes: number, fill: number, eventCount = 1): JournalPart {
  const dedupKeys = new Uint32Array(2 * eventCount).map((_, word) => fill * 10_000_000 + word)
  return { kind: 'events', payload: new Uint8Array(payloadBytes).fill(fill), eventCount, dedupKeys }
}

function plain(chain: Chain | null): unknown {
  return chain?.map(({ kind, payload, eventCount, dedupKeys }) => ({
    kind,
    eventCount,
    payload: Buffer.from(payload).toString('hex'),
    dedupKeys: dedupKeys === null ? null : [...dedupKeys],
  }))
}

/** Both ends of a ring whose counters stand at `start`. */
function ends(bytes: number, start = 0): { main: AppendRing; lane: AppendRing } {
  const memory = createRingMemory(bytes)
  new Int32Array(memory.counters).fill(start)
  return { main: new AppendRing(memory), lane: new AppendRing(memory) }
}

t.test('chains arrive as they were, in their order, round and round', async (t) => {
  // Of the counters too: one passes 2^31, one 2^32.
  for (const start of [0, 2 ** 31 - 4096, -4096]) {
    const { main, lane } = ends(1024, start)
    const waiting: unknown[] = []
    let taken = 0
    for (let number = 0; number < 400; number++) {
      const chain = [eventsPart((number * 37) % 150, number % 256, number % 4)]
      while (!main.put(chain, 0)) {
        taken++
        t.same(plain(lane.take(0)), waiting.shift())
      }
      waiting.push(plain(chain))
    }
    t.ok(waiting.length > 1, 'several wait in a full ring')
    for (const chain of waiting) t.same(plain(lane.take(0)), chain)
    t.equal(taken + waiting.length, 400)
    t.equal(lane.take(0), null)
  }
})

t.test('is full with as many bytes as it has, not with one less', async (t) => {
  const { main, lane } = ends(256)
  // 16 bytes before each payload, 8 of keys behind.
  t.ok(main.put([eventsPart(104, 1)], 0))
  t.notOk(main.put([eventsPart(105, 2)], 0))
  t.ok(main.put([eventsPart(104, 3)], 0))
  t.notOk(main.put([eventsPart(0, 4, 0)], 0))
  t.equal(lane.take(0)?.[0]?.payload[0], 1)
  t.ok(main.put([eventsPart(0, 4, 0)], 0))
  t.equal(lane.take(0)?.[0]?.payload[0], 3)
  t.equal(lane.take(0)?.[0]?.payload.length, 0)
  t.equal(lane.take(0), null)
})

t.test('takes one short part of events, and nothing else', async (t) => {
  const { main, lane } = ends(64 * 1024)
  // Two words of keys, 8 bytes, lie behind the payload.
  t.ok(main.put([eventsPart(16 * 1024 - 16, 1)], 0))
  t.ok(main.put([eventsPart(16 * 1024 - 8, 2)], 0))
  t.notOk(main.put([eventsPart(16 * 1024 - 7, 3)], 0))
  t.notOk(main.put([eventsPart(9, 4), eventsPart(9, 5)], 0))
  t.notOk(main.put([{ kind: 'command', payload: new Uint8Array(9), eventCount: 0, dedupKeys: null }], 0))
  t.equal(lane.take(0)?.[0]?.payload[0], 1)
  t.equal(lane.take(0)?.[0]?.payload[0], 2)
  t.equal(lane.take(0), null)
})

t.test('what was taken stays as it is when its place is used again', async (t) => {
  const { main, lane } = ends(256)
  const first = [eventsPart(100, 1)]
  main.put(first, 0)
  const taken = lane.take(0)
  for (let fill = 2; fill < 6; fill++) {
    t.ok(main.put([eventsPart(100, fill)], 0))
    lane.take(0)
  }
  t.same(plain(taken), plain(first))
})

t.test('a chain waits for the messages that were sent before it', async (t) => {
  const { main, lane } = ends(1024)
  main.put([eventsPart(8, 1)], 0)
  main.put([eventsPart(8, 2)], 2)
  t.equal(lane.take(0)?.[0]?.payload[0], 1)
  t.equal(lane.take(0), null)
  t.equal(lane.take(1), null)
  t.equal(lane.take(2)?.[0]?.payload[0], 2)
})
