import t from 'tap'
import { type Chain, packAppends, unpackAppends } from '../../src/journal/append-message.ts'
import type { JournalPart } from '../../src/journal/journal.ts'

function eventsPart(payloadBytes: number, fill: number, eventCount = 1): JournalPart {
  const dedupKeys = new Uint32Array(2 * eventCount).map((_, word) => fill * 1000 + word)
  return { kind: 'events', payload: new Uint8Array(payloadBytes).fill(fill), eventCount, dedupKeys }
}

/** What arrives in another thread. */
function received(chains: readonly Chain[]): Chain[] {
  const ids = chains.map((_, id) => id)
  const { message, moved } = packAppends(ids, chains)
  return unpackAppends(structuredClone(message, { transfer: moved }))
}

/** Plain values, whose buffers may be moved. */
function plain(chains: readonly Chain[]): unknown {
  return chains.map((chain) =>
    chain.map(({ kind, payload, eventCount, dedupKeys }) => ({
      kind,
      eventCount,
      payload: Buffer.from(payload).toString('hex'),
      dedupKeys: dedupKeys === null ? null : [...dedupKeys],
    })),
  )
}

t.test(
  'short and long chains, commands and chains of parts arrive as they were, in their order',
  async (t) => {
    const command: JournalPart = {
      kind: 'command',
      payload: new Uint8Array([1, 2, 3]),
      eventCount: 0,
      dedupKeys: null,
    }
    const chains = [
      [eventsPart(5, 1)],
      [eventsPart(40_000, 2, 20)],
      [command],
      [eventsPart(8, 3, 3)],
      [eventsPart(7, 4), eventsPart(9, 5)],
      [eventsPart(0, 6)],
    ]
    const sent = plain(chains)
    t.same(plain(received(chains)), sent)
  },
)

t.test('a chain up to 16 KiB is copied, a longer one is moved', async (t) => {
  // Two words of keys, 8 bytes, lie behind the payload.
  for (const [payloadBytes, isCopied] of [
    [16 * 1024 - 16, true],
    [16 * 1024 - 8, true],
    [16 * 1024 - 7, false],
  ] as const) {
    const part = eventsPart(payloadBytes, 9)
    const sent = plain([[part]])
    t.same(plain(received([[part]])), sent)
    t.equal(part.payload.byteLength, isCopied ? payloadBytes : 0, `${payloadBytes} bytes`)
  }
})

t.test('a view on memory that others use is copied, however long it is', async (t) => {
  const shared = new Uint8Array(50_000).fill(7)
  const part = { ...eventsPart(0, 1), payload: shared.subarray(8) }
  const sent = plain([[part]])
  t.same(plain(received([[part]])), sent)
  t.equal(shared.byteLength, 50_000)
})
