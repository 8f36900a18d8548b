// The inside of the persons thread: the only one that writes persons. It does one task at a time.

import type { JournalReader } from '../journal/journal.ts'
import { assert, unreachable } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { openPostgres } from '../postgres/pool.ts'
import { Consumer, type StepOutcome } from './consumer.ts'
import type { OpenTask, PersonsTask } from './messages.ts'
import { PostgresStore, storePool } from './postgres-store.ts'

/** Opens the reading side of the journal; damage that it meets is copied to `quarantineDir`. */
export type OpenReader = (journalDir: string, quarantineDir: string) => JournalReader

const MiB = 1024 * 1024
/**
 * Holds what 730,000 to 1,460,000 persons have seen, and rows of 40,000 to 80,000 with 400 characters of properties.
 */
const cacheBytesMax = 192 * MiB
/** What is loaded is in memory twice for a moment, and the fold's copy comes on top. */
const loadedBytesMax = 64 * MiB
/** Deleting a large project is one statement a table. */
const statementMsMax = 300_000

export class PersonsThread {
  readonly #clock: Clock
  readonly #openReader: OpenReader
  #consumer: Consumer | null = null

  constructor(clock: Clock, openReader: OpenReader) {
    this.#clock = clock
    this.#openReader = openReader
  }

  async handle(task: PersonsTask): Promise<StepOutcome | null> {
    if (task.kind === 'open') return this.#open(task)
    assert(this.#consumer !== null, 'the persons thread was opened')
    switch (task.kind) {
      case 'step':
        return await this.#consumer.step(task.journal)
      case 'close':
        await this.#consumer.close()
        return null
      default:
        return unreachable(task)
    }
  }

  #open({ connectionString, journalDir, quarantineDir, spikeEventsPerSecond, killAt }: OpenTask): null {
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, fatal: () => {} }
    const postgres = openPostgres({ connectionString, log, statementMsMax, ...storePool })
    const store = new PostgresStore({ postgres, cacheBytesMax, loadedBytesMax, killAt })
    const reader = this.#openReader(journalDir, quarantineDir)
    const options = { quarantineDir, spikeEventsPerSecond, clock: this.#clock }
    this.#consumer = new Consumer(store, reader, options)
    return null
  }
}
