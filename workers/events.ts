// Entry of the events thread: a pool of exactly one thread, which owns the DuckDB file for the life of the process.

import type { Answer, EventsTask } from '../src/events/messages.ts'
import { EventsThread } from '../src/events/thread.ts'
import { openJournalReader } from '../src/journal/reader.ts'
import { systemClock } from '../src/lib/clock.ts'
import { poolStandsBack, standBack } from '../src/priority.ts'

standBack()
// DuckDB's work is done there, and by threads that this one starts.
await poolStandsBack()
const thread = new EventsThread(systemClock, (dir, quarantineDir) =>
  openJournalReader({ dir, quarantineDir }),
)

export default function handle(task: EventsTask): Promise<Answer<unknown>> {
  return thread.handle(task)
}
