import t from 'tap'
import { checkLineage } from '../../src/events/progress.ts'
import type { JournalState, Position } from '../../src/journal/journal.ts'
import { uuidOf } from './make-batch.ts'
import { epoch } from './world.ts'

const at = (position: number) => position as Position // made up for these tests

t.test('holds its offsets against the journal', async (t) => {
  const stored = {
    epoch,
    offsets: { realtime: { position: at(500), index: 3 }, historical: { position: at(0), index: 0 } },
    counts: { events: 1, duplicates: 0, quarantined: 0 },
  }
  const lane = {
    oldest: at(0),
    committed: at(1000),
    queuedBytes: 0,
    storedBytes: 0,
    damagedBytes: 0,
    isFull: false,
    commitCount: 0,
    commitMsTotal: 0,
  }
  const journal: JournalState = { epoch, lanes: { realtime: lane, historical: lane } }
  const withRealtime = (change: Partial<typeof lane>): JournalState => ({
    ...journal,
    lanes: { ...journal.lanes, realtime: { ...lane, ...change } },
  })

  t.equal(checkLineage(stored, journal), null)
  t.equal(checkLineage(stored, withRealtime({ oldest: at(500) })), null)
  t.match(
    checkLineage(stored, withRealtime({ oldest: at(501) })),
    /the journal's realtime lane begins at 501, the events store needs it from 500/,
  )
  t.throws(() => checkLineage(stored, withRealtime({ committed: at(500) })), { code: 'lineage_foreign' })
  t.throws(() => checkLineage(stored, { ...journal, epoch: uuidOf(9) }), { code: 'lineage_foreign' })
  t.match(
    checkLineage(
      { ...stored, epoch: null, offsets: { ...stored.offsets, realtime: { position: at(0), index: 0 } } },
      withRealtime({ oldest: at(64) }),
    ),
    /begins at 64/,
  )
})
