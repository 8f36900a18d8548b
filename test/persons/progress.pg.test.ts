import t from 'tap'
import type { JournalState, LaneState, Position } from '../../src/journal/journal.ts'
import { checkProgress, moveProgress, readProgress } from '../../src/persons/progress.ts'
import { at, epoch, start } from './store-contract.ts'
import { personsDatabase } from './world.ts'

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

t.test('moves on only from where it stands', async (t) => {
  const { postgres } = await personsDatabase(t)
  t.match(await readProgress(postgres, epoch), { epoch, offsets: start })
  const there = { ...at(80), historical: { position: 16 as Position, index: 3 } }
  await moveProgress(postgres, epoch, start, there)
  await t.rejects(moveProgress(postgres, epoch, start, at(160)), { code: 'store_fenced' })
  t.match(await readProgress(postgres, epoch), { epoch, offsets: there })
})

t.test('continues its own journal only, and none that has lost what it needs', async (t) => {
  const stored = { epoch, offsets: at(80) }
  t.equal(checkProgress(stored, journalOf(0, 80)), null)
  t.equal(checkProgress(stored, journalOf(80, 160)), null)
  t.match(checkProgress(stored, journalOf(88, 160)), /begins at 88/)
  t.throws(() => checkProgress(stored, journalOf(0, 72)), { code: 'lineage_foreign' })
  const within = { ...at(80), realtime: { position: 80 as Position, index: 1 } }
  t.throws(() => checkProgress({ epoch, offsets: within }, journalOf(0, 80)), { code: 'lineage_foreign' })
  t.throws(() => checkProgress({ ...stored, epoch: 'other' }, journalOf(0, 80)), { code: 'lineage_foreign' })
})
