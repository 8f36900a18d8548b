// Run by kill.pg.test.ts in a process of its own: applies a journal to a database and dies at the kill point given.
// Arguments: the journal's folder, its state as JSON, how to reach Postgres, kill point or "none".

import { type JournalState, lanes } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { PersonsThread } from '../../src/persons/thread.ts'

const [, , journalDir = '', state = '', connectionString = '', killAt = 'none'] = process.argv
const thread = new PersonsThread(systemClock, (dir, quarantineDir) =>
  openJournalReader({ dir, quarantineDir }),
)
await thread.handle({
  kind: 'open',
  connectionString,
  journalDir,
  quarantineDir: journalDir,
  spikeEventsPerSecond: 100,
  killAt: killAt === 'none' ? null : killAt,
})
// Written by the parent.
const journal = JSON.parse(state) as JournalState
for (let isBehind = true; isBehind; ) {
  const outcome = await thread.handle({ kind: 'step', journal })
  if (outcome?.kind === 'stopped' || outcome?.kind === 'foreign') throw new Error(outcome.detail)
  if (outcome?.kind !== 'applied') continue
  const { offsets } = outcome
  isBehind = lanes.some((lane) => offsets[lane].position < journal.lanes[lane].committed)
}
await thread.handle({ kind: 'close' })
