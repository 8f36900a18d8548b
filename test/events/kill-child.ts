// Run by kill.test.ts in a process of its own: loads a journal that is the same every time into the folder given,
// and dies at the kill point given. Arguments: data folder, kill point or "none".

import { EventsThread } from '../../src/events/thread.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { uuidOf } from './make-batch.ts'
import { FakeJournal } from './world.ts'

/** 30 records of 100 events in each lane, and deletions of persons between. */
export function crashJournal(): FakeJournal {
  const journal = new FakeJournal()
  for (let record = 0; record < 60; record++) {
    const rows = Array.from({ length: 100 }, (_, i) => ({ uuid: uuidOf(record * 100 + i) }))
    journal.append({ rows }, record % 2 === 0 ? 'realtime' : 'historical')
    if (record % 10 === 9) journal.deletePerson(1, uuidOf(record))
  }
  return journal
}

async function main(dataDir: string, killAt: string | null): Promise<void> {
  const journal = crashJournal()
  const thread = new EventsThread(systemClock, () => journal)
  const options = { dataDir, journalDir: '', memoryLimitBytes: 256 * 1024 * 1024, threads: 2, killAt }
  const opened = await thread.handle({ kind: 'open', journal: journal.state(), ...options })
  if (!opened.ok) throw new Error(opened.detail)
  for (let i = 0; i < 30; i++) {
    const part = {
      realtime: journal.records.realtime[i]!.end,
      historical: journal.records.historical[i]!.end,
    }
    await thread.handle({ kind: 'step', committed: part })
    if (i % 3 === 2) await thread.handle({ kind: 'checkpoint' })
  }
  await thread.handle({ kind: 'close' })
}

const [, script, dataDir, killAt] = process.argv
if (script?.endsWith('kill-child.js') && dataDir !== undefined) {
  await main(dataDir, killAt === undefined || killAt === 'none' ? null : killAt)
}
