// The inside of the events thread: the only owner of the DuckDB file. It does one task at a time for the writing side
// (open, step, checkpoint, what concerns the mirror, close), in the order in which they come, and any number of reads
// beside it.

import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { origin, type Positions } from '../consumer/offset.ts'
import { ServiceError } from '../errors.ts'
import type { JournalReader } from '../journal/journal.ts'
import { lanes } from '../journal/journal.ts'
import { killPoint } from '../kill-point.ts'
import { assert, unreachable } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { Consumer } from './consumer.ts'
import { createCopies, fillCopy } from './copied-rows.ts'
import { extractMsMax, runExtract } from './extract.ts'
import { failureOf, shortMessage } from './failure.ts'
import { GivingWay } from './giving-way.ts'
import { Intake } from './intake.ts'
import { listEvents } from './list.ts'
import {
  type Answer,
  answer,
  type Checkpointed,
  type EventsTask,
  type Mirroring,
  type Opened,
  type OpenTask,
  type Stepped,
} from './messages.ts'
import { Mirror } from './mirror.ts'
import type { Mirrored } from './mirror-page.ts'
import { Pacing } from './pacing.ts'
import { checkLineage } from './progress.ts'
import { Readers, runQuery } from './readers.ts'
import { runSelect } from './select.ts'
import { runSelectParquet } from './select-parquet.ts'
import { openStore, type Store } from './store.ts'

/** Opens the reading side of the journal; damage that it meets is copied to `quarantineDir`. */
export type OpenReader = (journalDir: string, quarantineDir: string) => JournalReader

interface Open {
  readonly store: Store
  readonly consumer: Consumer
  readonly mirror: Mirror
  readonly readers: Readers
  readonly intake: Intake
  readonly pacing: Pacing
  readonly killAt: string | null
}

export class EventsThread {
  readonly #clock: Clock
  readonly #openReader: OpenReader
  #open: Open | null = null
  /** The last of the tasks that write. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock, openReader: OpenReader) {
    this.#clock = clock
    this.#openReader = openReader
  }

  /** Does one task. Never rejects: errors are in the answer. */
  handle(task: EventsTask): Promise<Answer<unknown>> {
    return answer<unknown>(() => this.#handle(task))
  }

  #handle(task: EventsTask): Promise<unknown> {
    if (task.kind === 'open') return this.#openAll(task)
    const open = this.#open
    // A thread that a pool has started again in place of a lost one owns nothing, and must not: see store.ts.
    if (open === null)
      throw new ServiceError('storage_failed', { detail: 'the events thread has no open store' })
    switch (task.kind) {
      case 'step':
        return this.#inTurn(() => this.#step(open, task.committed))
      case 'checkpoint':
        return this.#inTurn(() => this.#checkpoint(open))
      case 'mirror':
        return this.#inTurn(() => this.#mirror(open, open.mirror.apply(task.page)))
      case 'tend_mirror':
        return this.#inTurn(() => this.#mirror(open, open.mirror.tend()))
      case 'list':
        return open.readers.run((connection) => listEvents(connection, task.filter))
      case 'query':
        return open.readers.run((connection) => runQuery(connection, task.sql, task.values), {
          reader: task.isForExport ? 'exports' : 'ourselves',
        })
      case 'prepare_copies':
        return open.readers.hold(task.id, (connection) => createCopies(connection, task.tables))
      case 'fill_copy':
        return open.pacing.working(() =>
          open.readers.run((connection) => fillCopy(connection, task.projectId, task.page), { id: task.id }),
        )
      case 'drop_copies':
        open.readers.letGo(task.id)
        return Promise.resolve(null)
      case 'select': {
        const { id, limits } = task
        return open.readers.run((connection) => runSelect(connection, task), {
          id,
          ...limits,
          reader: 'people',
        })
      }
      case 'select_parquet': {
        const { id, sql, limits } = task
        const path = join(open.store.queriesDir, `${id}.parquet`)
        const read = (connection: DuckDBConnection) => runSelectParquet(connection, sql, path)
        return open.readers.run(read, { id, ...limits, reader: 'people' })
      }
      case 'extract':
        return open.readers.run((connection) => runExtract(connection, task), {
          id: task.id,
          msMax: extractMsMax,
          reader: 'exports',
        })
      case 'cancel':
        open.readers.interrupt(task.id)
        return Promise.resolve(null)
      case 'close':
        return this.#inTurn(() => this.#close(open))
      default:
        return unreachable(task)
    }
  }

  /** Runs `write` when the writing tasks before it have ended: they share a connection, and so a transaction. */
  #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = this.#writing.then(write)
    this.#writing = turn.catch(() => {}) // told to whoever sent the task
    return turn
  }

  async #openAll(task: OpenTask): Promise<Opened> {
    assert(this.#open === null, 'the events store is opened once')
    const isJournalComplete = lanes.every((lane) => task.journal.lanes[lane].oldest === origin)
    const store = await openStore({ ...task, isJournalComplete, clock: this.#clock })
    try {
      const reason = checkLineage(store.stored, task.journal)
      const reader = this.#openReader(task.journalDir, store.quarantineDir)
      const { epoch } = task.journal
      const { killAt } = task
      const consumer = await Consumer.open(store, reader, { epoch, clock: this.#clock, killAt })
      const mirror = await Mirror.open(store.writer, { clock: this.#clock, killAt })
      const clock = this.#clock
      const intake = new Intake(clock)
      const givingWay = new GivingWay({
        clock,
        isIngesting: () => intake.isLarge,
        isExpecting: () => intake.isExpected,
      })
      const pacing = new Pacing(store.writer, givingWay, clock)
      const readers = new Readers(store.instance, clock, pacing)
      this.#open = { store, consumer, mirror, readers, intake, pacing, killAt }
      const { offsets, counts } = consumer
      return { offsets, counts, remedies: store.remedies, reason, mirrored: mirror.mirrored }
    } catch (error) {
      store.close()
      throw error
    }
  }

  async #step({ consumer, store, readers, intake }: Open, committed: Positions): Promise<Stepped> {
    const bytes = lanes.reduce((sum, lane) => sum + committed[lane] - consumer.offsets[lane].position, 0)
    const outcome = await intake.during(bytes, () => consumer.step(committed))
    // What the load could not get, people's queries may be holding.
    if (outcome.kind === 'retry' && /^Out of Memory Error/.test(outcome.detail)) readers.interruptAll()
    return { outcome, walBytes: store.walBytes(), rowGroupBytes: consumer.pace.rowGroupBytes }
  }

  async #mirror({ store }: Open, writing: Promise<Mirrored>): Promise<Mirroring> {
    return { ...(await writing), walBytes: store.walBytes() }
  }

  async #checkpoint({ store, consumer, mirror, killAt }: Open): Promise<Checkpointed> {
    const { offsets } = consumer
    const mirrored = mirror.mirrored.cursor
    try {
      const done = store.writer.run('checkpoint')
      killPoint(killAt, 'in_checkpoint')
      await done
      return { offsets, mirrored, walBytes: store.walBytes() }
    } catch (error) {
      // Anything but an invalidated instance leaves the store as it was: the next checkpoint takes it along.
      if (failureOf(error) === 'transient')
        return { offsets: null, mirrored: null, walBytes: store.walBytes() }
      throw new ServiceError('storage_failed', { detail: shortMessage(error), cause: error })
    }
  }

  async #close({ store, consumer, readers }: Open): Promise<null> {
    await readers.close()
    consumer.close()
    store.close()
    this.#open = null
    return null
  }
}
