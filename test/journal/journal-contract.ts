// What every journal must do: run on the one with threads and files, and on the one in memory.

import type { Test } from 'tap'
import { isServiceError } from '../../src/errors.ts'
import type { Journal, JournalReader, Lane, Position } from '../../src/journal/journal.ts'
import { pack } from '../../src/journal/parcel.ts'
import { command, flaggedIn, part, textOf } from './lane-world.ts'

export interface JournalWorld {
  readonly journal: Journal
  reader(): JournalReader
}

/** Opens an empty journal with a small queue and a small window; the world cleans up after the test. */
export type MakeWorld = (
  t: Test,
  limits: { queueBytesMax: number; dedupWindowEvents: number },
) => Promise<JournalWorld>

const limits = { queueBytesMax: 4096, dedupWindowEvents: 3 }

export function journalContract(t: Test, name: string, makeWorld: MakeWorld): void {
  t.test(`${name}: keeps the order of the calls within a lane`, async (t) => {
    const { journal, reader } = await makeWorld(t, limits)
    const texts = Array.from({ length: 30 }, (_, i) => `record ${i}`)
    const appended = await Promise.all(texts.map((text) => journal.append('realtime', [part(text)])))
    for (const [index, { position, end }] of appended.entries()) {
      t.ok(position < end)
      t.ok(index === 0 || position >= appended[index - 1]!.end)
    }
    t.same(readTexts(reader(), journal, 'realtime', 100), texts)
    t.same(readTexts(reader(), journal, 'historical', 100), [])
  })

  t.test(`${name}: appends a chain as one, with its parts as they are`, async (t) => {
    const { journal, reader } = await makeWorld(t, limits)
    const chain = [part('a', [1, 0]), command('b'), part('c'.repeat(900), [2])]
    const [first, second] = await Promise.all([
      journal.append('historical', chain),
      journal.append('historical', [part('d')]),
    ])
    t.ok(second.position >= first.end)
    const chunk = reader().read('historical', 0 as Position, second.end, 1_000_000)
    t.same(
      chunk.records.map(({ kind, eventCount, payload }) => [kind, eventCount, payload.byteLength]),
      [
        ['events', 2, 1],
        ['command', 0, 1],
        ['events', 1, 900],
        ['events', 1, 1],
      ],
    )
    t.equal(chunk.next, second.end)
    t.same(chunk.gaps, [])
  })

  t.test(`${name}: appends a packed chain as any other`, async (t) => {
    const { journal, reader } = await makeWorld(t, limits)
    const chains = [[part('a', [1])], pack([part('b', [1, 2]), part('c'.repeat(900))]), [part('d')]]
    const appended = await Promise.all(chains.map((chain) => journal.append('realtime', chain)))
    t.same(readTexts(reader(), journal, 'realtime', 100), ['a', 'b', 'c'.repeat(900), 'd'])
    t.same(
      appended.map(({ duplicateCount }) => duplicateCount),
      [0, 1, 0],
    )
  })

  t.test(`${name}: flags duplicates within the window of the lane`, async (t) => {
    const { journal, reader } = await makeWorld(t, limits)
    await journal.append('realtime', [part('', [1, 2, 1])])
    const retry = await journal.append('realtime', [part('', [2, 3]), part('', [0, 0, 4, 1])])
    t.equal(retry.duplicateCount, 1)
    const other = await journal.append('historical', [part('', [1])])
    t.equal(other.duplicateCount, 0)
    const { committed } = journal.state().lanes.realtime
    const { records } = reader().read('realtime', 0 as Position, committed, 1_000_000)
    t.same(records.map(flaggedIn), [[2], [0], []])
    t.same(
      records.map((record) => record.duplicates === null),
      [false, false, true],
    )
  })

  t.test(`${name}: has committed, and says so, before an append resolves`, async (t) => {
    const { journal } = await makeWorld(t, limits)
    const published: Position[] = []
    journal.onCommitted((lane, committed) => lane === 'realtime' && published.push(committed))
    const { end } = await journal.append('realtime', [part('x')])
    t.equal(published.at(-1), end)
    t.equal(journal.state().lanes.realtime.committed, end)
    t.equal(journal.state().lanes.realtime.queuedBytes, 0)
  })

  t.test(
    `${name}: refuses with journal_full what the queue has no room for, but any chain alone`,
    async (t) => {
      const { journal, reader } = await makeWorld(t, limits)
      const large = journal.append('realtime', [part('L'.repeat(10_000))])
      await t.rejects(journal.append('realtime', [part('s')]), { code: 'journal_full' })
      const elsewhere = journal.append('historical', [part('s')])
      await Promise.all([large, elsewhere])
      await journal.append('realtime', [part('after')])
      t.same(readTexts(reader(), journal, 'realtime', 100), ['L'.repeat(10_000), 'after'])
    },
  )

  t.test(`${name}: reads whole records, at least one, and never past the given position`, async (t) => {
    const { journal, reader: open } = await makeWorld(t, limits)
    const first = await journal.append('realtime', [part('a'.repeat(500))])
    const second = await journal.append('realtime', [part('b'.repeat(500))])
    const reader = open()
    const read = (from: Position, upTo: Position, bytesMax: number): string[] =>
      reader.read('realtime', from, upTo, bytesMax).records.map((record) => textOf(record).slice(0, 1))
    t.same(read(first.position, second.end, 1), ['a'])
    t.same(read(first.position, second.end, 1_000_000), ['a', 'b'])
    t.same(read(first.position, first.end, 1_000_000), ['a'])
    t.same(read(second.position, second.end, 600), ['b'])
    t.same(read(second.end, second.end, 600), [])
    reader.close()
  })

  t.test(`${name}: tells which record begins at a position`, async (t) => {
    const { journal, reader: open } = await makeWorld(t, limits)
    await journal.append('realtime', [part('a'.repeat(500))])
    const { position, end } = await journal.append('realtime', [part('b'.repeat(500))])
    const reader = open()
    const at = (offset: number) => {
      const found = reader.recordAt('realtime', (position + offset) as Position, end)
      return typeof found === 'string' ? found : textOf(found).slice(0, 1)
    }
    t.same([at(-position), at(0)], ['a', 'b'])
    t.same([at(-8), at(8), at(end - position - 8)], ['none', 'none', 'none'])
    reader.close()
  })

  t.test(`${name}: commits what is queued when it closes and refuses what comes after`, async (t) => {
    const { journal, reader } = await makeWorld(t, limits)
    const queued = journal.append('realtime', [part('queued')])
    const closing = journal.close()
    await t.rejects(journal.append('realtime', [part('late')]), { code: 'stopping' })
    await Promise.all([queued, closing])
    await journal.close()
    t.same(readTexts(reader(), journal, 'realtime', 100), ['queued'])
    const error = await journal.append('historical', [part('late')]).catch((error: unknown) => error)
    t.ok(isServiceError(error, 'stopping'))
  })
}

function readTexts(reader: JournalReader, journal: Journal, lane: Lane, bytesMax: number): string[] {
  const { oldest, committed } = journal.state().lanes[lane]
  const texts: string[] = []
  for (let from = oldest; from < committed; ) {
    const { records, next } = reader.read(lane, from, committed, bytesMax)
    texts.push(...records.map(textOf))
    from = next
  }
  reader.close()
  return texts
}
