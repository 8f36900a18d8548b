// Entry of the persons thread: a pool of exactly one thread, the only writer of persons in Postgres.

import { openJournalReader } from '../src/journal/reader.ts'
import { systemClock } from '../src/lib/clock.ts'
import type { StepOutcome } from '../src/persons/consumer.ts'
import type { PersonsTask } from '../src/persons/messages.ts'
import { PersonsThread } from '../src/persons/thread.ts'
import { standBack } from '../src/priority.ts'

standBack()
const thread = new PersonsThread(systemClock, (dir, quarantineDir) =>
  openJournalReader({ dir, quarantineDir }),
)

export default function handle(task: PersonsTask): Promise<StepOutcome | null> {
  return thread.handle(task)
}
