import t from 'tap'
import { markOf } from '../../src/consumer/mark.ts'
import { forLanes } from '../../src/consumer/offset.ts'
import type { JournalState, LaneState, Position } from '../../src/journal/journal.ts'
import { checkProgress, moveProgress, readProgress } from '../../src/persons/progress.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'
import { at, epoch, start } from './store-contract.ts'
import { appendEvents, personsDatabase } from './world.ts'

function journalOf(oldest: number, committed: number): JournalState {
  const lane: LaneState = {
    oldest: oldest as Position, // a journal of no files
    committed: committed as Position,
    queuedBytes: 0,
    storedBytes: 0,
    damagedBytes: 0,
    isFull: false,
    commitCount: 0,
    commitMsTotal: 0,
  }
  return { epoch, lanes: { realtime: lane, historical: { ...lane, oldest: 0 as Position } } }
}

const noMarks = forLanes(() => null)

t.test('moves on only from where it stands, and remembers the last record of each lane', async (t) => {
  const { postgres } = await personsDatabase(t)
  t.match(await readProgress(postgres, epoch), { epoch, offsets: start, marks: noMarks })
  const there = { ...at(80), historical: { position: 16 as Position, index: 3 } }
  const realtime = { position: 40 as Position, checksum: 4_294_967_295 }
  await moveProgress(postgres, epoch, { from: start, to: there, marks: { ...noMarks, realtime }, nowMs: 0 })
  const again = moveProgress(postgres, epoch, { from: start, to: at(160), marks: noMarks, nowMs: 0 })
  await t.rejects(again, { code: 'store_fenced' })
  t.match(await readProgress(postgres, epoch), {
    epoch,
    offsets: there,
    marks: { realtime, historical: null },
  })
  const historical = { position: 16 as Position, checksum: 0 }
  await moveProgress(postgres, epoch, {
    from: there,
    to: at(160),
    marks: { ...noMarks, historical },
    nowMs: 0,
  })
  t.same((await readProgress(postgres, epoch)).marks, { realtime, historical })
})

t.test('continues its own journal only, and none that has lost what it needs', async (t) => {
  const stored = { epoch, offsets: at(80), marks: noMarks }
  const reader = new MemoryJournal().reader()
  const check = (known: typeof stored, journal: JournalState) => checkProgress(known, journal, reader)
  t.equal(check(stored, journalOf(0, 80)), null)
  t.equal(check(stored, journalOf(80, 160)), null)
  t.match(check(stored, journalOf(88, 160)), /begins at 88/)
  t.throws(() => check(stored, journalOf(0, 72)), { code: 'lineage_foreign' })
  const within = { ...at(80), realtime: { position: 80 as Position, index: 1 } }
  t.throws(() => check({ ...stored, offsets: within }, journalOf(0, 80)), { code: 'lineage_foreign' })
  t.throws(() => check({ ...stored, epoch: 'other' }, journalOf(0, 80)), { code: 'lineage_foreign' })
})

t.test('continues no other copy of its journal', async (t) => {
  const one = new MemoryJournal()
  const other = new MemoryJournal()
  const { end } = await appendEvents(one, [{ event: 'e', distinct_id: 'a' }])
  const { end: otherEnd } = await appendEvents(other, [{ event: 'e', distinct_id: 'b' }])
  t.equal(end, otherEnd, 'records of one size')
  const { epoch } = one.state()
  const record = one.reader().recordAt('realtime', 0 as Position, end)
  if (typeof record === 'string') throw new Error('the record was just appended')
  const stored = { epoch, offsets: at(end), marks: { ...noMarks, realtime: markOf(record) } }
  t.equal(checkProgress(stored, one.state(), one.reader()), null)
  t.throws(() => checkProgress(stored, other.state(), other.reader()), {
    code: 'lineage_foreign',
    detail: /made from another copy of this journal: .*the realtime lane before \d+ is not what/,
  })
})

t.test('every step has a time that is later than the one before, whatever the clock does', async (t) => {
  const { postgres } = await personsDatabase(t)
  await readProgress(postgres, epoch)
  const times: unknown[] = []
  for (const [n, nowMs] of [5_000, 5_000, 1_000, 6_000].entries()) {
    await moveProgress(postgres, epoch, { from: at(n), to: at(n + 1), marks: noMarks, nowMs })
    const { rows } = await postgres.query<{ time: string }>('select changed_at as time from persons_progress')
    times.push(rows[0]?.time)
  }
  const second = '1970-01-01T00:00:05'
  t.same(times, [`${second}Z`, `${second}.000001Z`, `${second}.000002Z`, '1970-01-01T00:00:06Z'])
})
