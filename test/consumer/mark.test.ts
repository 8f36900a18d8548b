import t from 'tap'
import { hasMarked, markOf } from '../../src/consumer/mark.ts'
import { originOffset } from '../../src/consumer/offset.ts'
import type { JournalRecord, Position } from '../../src/journal/journal.ts'
import { command } from '../journal/lane-world.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'

/** A journal of such commands, and where each of them begins. */
async function journalOf(...texts: string[]) {
  const journal = new MemoryJournal()
  const positions: Position[] = []
  for (const text of texts) positions.push((await journal.append('realtime', [command(text)])).position)
  const lane = journal.state().lanes.realtime
  const reader = journal.reader()
  const record = (index: number): JournalRecord => {
    const found = reader.recordAt('realtime', positions[index]!, lane.committed)
    if (typeof found === 'string') throw new Error(`${found} at ${positions[index]}`)
    return found
  }
  return { reader, lane, record }
}

/** Where a store stands that has applied the record of `index`. */
async function storeOf(index: number, ...texts: string[]) {
  const { record } = await journalOf(...texts)
  return { offset: { position: record(index).end, index: 0 }, mark: markOf(record(index)) }
}

t.test('knows its journal by the record before the offset', async (t) => {
  const { offset, mark } = await storeOf(1, 'one', 'two', 'three')
  const holds = async (...texts: string[]) => {
    const { reader, lane } = await journalOf(...texts)
    return hasMarked(reader, 'realtime', lane, offset, mark)
  }
  t.equal(await holds('one', 'two', 'three'), true)
  t.equal(await holds('one', 'two'), true, 'at its end')
  t.equal(await holds('one', 'two', 'other'), true, 'what it has not applied may differ')
  t.equal(await holds('one', 'too', 'three'), false)
  t.equal(await holds('one', 'two'.repeat(100)), false, 'a record over the offset')
  t.equal(await holds('one'.repeat(20), 'two'), false, 'a record over the mark')
})

t.test('a record that lies over the offset is another history, marked or not', async (t) => {
  const { reader, lane, record } = await journalOf('one', 'two')
  const inside = { position: (record(1).position + 8) as Position, index: 0 }
  t.equal(hasMarked(reader, 'realtime', lane, inside, null), false)
  t.equal(hasMarked(reader, 'realtime', lane, { position: record(1).position, index: 0 }, null), true)
  t.equal(hasMarked(reader, 'realtime', lane, originOffset, null), true)
})

t.test('what the journal has forgotten speaks for neither', async (t) => {
  const { reader, lane, record } = await journalOf('one', 'two')
  const other = { ...markOf(record(0)), checksum: 1 }
  const offset = { position: record(0).end, index: 0 }
  t.equal(hasMarked(reader, 'realtime', lane, offset, other), false)
  t.equal(hasMarked(reader, 'realtime', { ...lane, oldest: offset.position }, offset, other), true)
})
