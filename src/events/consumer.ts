// Applies the journal to DuckDB: one step is one transaction that holds rows and the offsets they lead to. That is
// the whole exactly-once argument: after any crash or error the stored offset says where to go on.
//
// A step that fails is rolled back, and the offset is read from the store again: a COMMIT that reports an error may
// have happened. Then, by the kind of failure (failure.ts):
//   transient   the next step takes half as many rows
//   poison      the row at fault is found by halving and set aside (suspicion.ts)
//   fatal, bug  the caller stops

import { decodeCommand } from '../consumer/command.ts'
import type { Offset, Offsets, Positions } from '../consumer/offset.ts'
import { forLanes, positionsOf, sameOffset } from '../consumer/offset.ts'
import { openRecord } from '../consumer/record-batch.ts'
import { acquit, type Suspicion, suspect, tryRows } from '../consumer/suspicion.ts'
import { type JournalReader, type JournalRecord, type Lane, lanes } from '../journal/journal.ts'
import { killPoint } from '../kill-point.ts'
import { type Clock, microsFromMs } from '../lib/clock.ts'
import { failureOf, shortMessage } from './failure.ts'
import { isDuplicate, Loader } from './load.ts'
import { Pace } from './pace.ts'
import { type Counts, readStored, writeGap, writeProgress } from './progress.ts'
import { type PlacedEvent, quarantineEvent } from './quarantine.ts'
import type { Store } from './store.ts'

export interface ConsumerOptions {
  /** Lineage of the journal that is applied. */
  readonly epoch: string
  readonly clock: Clock
  readonly killAt: string | null
}

export type StepOutcome =
  | {
      readonly kind: 'applied'
      readonly offsets: Offsets
      /** Over the store's whole life. */
      readonly counts: Counts
      /** Of this transaction. */
      readonly rows: number
      readonly bytes: number
      readonly ms: number
      /** What an operator should know, one sentence each. */
      readonly remarks: readonly string[]
    }
  /** Nothing was applied; try again, at once or after a pause. */
  | { readonly kind: 'retry'; readonly again: 'now' | 'later'; readonly detail: string }
  /** The store is as it was, but loading cannot go on. */
  | { readonly kind: 'stopped'; readonly detail: string }
  /** The process must end. */
  | { readonly kind: 'fatal'; readonly detail: string }

/** At most this much of the journal is in memory at a time, or one record; the next is read into the same memory. */
const chunkBytesMax = 4 * 1024 * 1024
const chunkBytesMin = 256 * 1024

/** One transaction in the making. */
interface Attempt {
  readonly offsets: Record<Lane, Offset>
  readonly counts: Record<Lane, { events: number; duplicates: number; quarantined: number }>
  readonly remarks: string[]
  /** Rows and commands taken, loaded or not. */
  rows: number
  bytes: number
  /** The lane being loaded, and how many rows of it were asked for. */
  lane: Lane
  laneRowsMax: number
}

export class Consumer {
  readonly pace = new Pace()
  readonly #store: Store
  readonly #reader: JournalReader
  readonly #loader: Loader
  readonly #options: ConsumerOptions
  #offsets: Offsets
  #counts: Counts
  #suspicion: Suspicion | null = null

  private constructor(store: Store, reader: JournalReader, loader: Loader, options: ConsumerOptions) {
    this.#store = store
    this.#reader = reader
    this.#loader = loader
    this.#options = options
    this.#offsets = store.stored.offsets
    this.#counts = store.stored.counts
  }

  static async open(store: Store, reader: JournalReader, options: ConsumerOptions): Promise<Consumer> {
    return new Consumer(store, reader, await Loader.open(store.writer), options)
  }

  get offsets(): Offsets {
    return this.#offsets
  }

  get counts(): Counts {
    return this.#counts
  }

  /** Applies the next stretch of the journal, never past `committed`, in one transaction. */
  async step(committed: Positions): Promise<StepOutcome> {
    const { writer } = this.#store
    const startedMs = this.#options.clock.monotonicMs()
    const attempt = this.#newAttempt()
    try {
      await writer.run('begin')
      for (const turn of this.#turns(committed))
        await this.#loadLane(attempt, turn.lane, turn.rowsUpTo, committed)
      for (const lane of lanes) await this.#writeProgress(attempt, lane)
      const commit = writer.run('commit')
      killPoint(this.#options.killAt, 'in_duck_commit')
      await commit
      killPoint(this.#options.killAt, 'after_duck_commit')
    } catch (error) {
      return await this.#recover(error, attempt)
    }
    const ms = this.#options.clock.monotonicMs() - startedMs
    this.pace.applied(attempt.rows, attempt.bytes, ms)
    return this.#applied(attempt, committed, ms)
  }

  /** Releases what the consumer holds of the store. No step may be running. */
  close(): void {
    this.#loader.close()
    this.#reader.close()
  }

  /** Which lane is loaded up to how many rows of the whole transaction, in turn. */
  #turns(committed: Positions): { lane: Lane; rowsUpTo: number }[] {
    if (this.#suspicion !== null) {
      return [{ lane: this.#suspicion.lane, rowsUpTo: Math.min(tryRows(this.#suspicion), this.pace.rowsMax) }]
    }
    const waiting = forLanes((lane) => committed[lane] - this.#offsets[lane].position)
    const rows = this.pace.rows(waiting.realtime + waiting.historical)
    // Realtime first, but history keeps a quarter when it waits; what one lane leaves, the other takes.
    const realtimeRows = waiting.historical > 0 ? rows - Math.ceil(rows / 4) : rows
    return [
      { lane: 'realtime', rowsUpTo: realtimeRows },
      { lane: 'historical', rowsUpTo: rows },
      { lane: 'realtime', rowsUpTo: rows },
    ]
  }

  async #loadLane(attempt: Attempt, lane: Lane, rowsUpTo: number, committed: Positions): Promise<void> {
    attempt.lane = lane
    attempt.laneRowsMax = rowsUpTo - attempt.rows
    while (attempt.rows < rowsUpTo && attempt.offsets[lane].position < committed[lane]) {
      const from = attempt.offsets[lane]
      const bytesWanted = this.pace.bytes(rowsUpTo - attempt.rows)
      const bytesMax = Math.min(chunkBytesMax, Math.max(chunkBytesMin, bytesWanted))
      // Nothing of the read before is kept: rows are copied as they are taken.
      this.#reader.takeBack()
      const chunk = this.#reader.read(lane, from.position, committed[lane], bytesMax)
      let isWhole = true
      for (const record of chunk.records) {
        isWhole = await this.#applyRecord(attempt, lane, record, rowsUpTo)
        if (!isWhole) break
      }
      if (isWhole) attempt.offsets[lane] = { position: chunk.next, index: 0 }
      const { position } = attempt.offsets[lane]
      for (const gap of chunk.gaps) {
        if (gap.position < from.position || gap.position >= position) continue
        await writeGap(this.#store.writer, lane, gap, this.#nowMicros())
        attempt.remarks.push(
          `the ${lane} lane is damaged from ${gap.position} to ${gap.end}; went on behind it`,
        )
      }
      attempt.bytes += position - from.position
      if (!isWhole || position === from.position) break
    }
    await this.#loader.flush()
  }

  /** Applies a record from the offset's index on. Returns false when rows ran out within it. */
  async #applyRecord(
    attempt: Attempt,
    lane: Lane,
    record: JournalRecord,
    rowsUpTo: number,
  ): Promise<boolean> {
    if (attempt.rows >= rowsUpTo) return false
    const { position, index } = attempt.offsets[lane]
    const from = position === record.position ? index : 0
    if (record.kind === 'command') {
      await this.#loader.flush()
      await this.#applyCommand(record)
      attempt.rows++
    } else {
      const batch = openRecord(record)
      const condemned = this.#suspicion?.condemned ?? null
      const { next, rows, duplicates } = condemned
        ? await this.#setAside(attempt, { lane, record, batch, index: from }, condemned.error)
        : await this.#loader.load(lane, record, batch, from, rowsUpTo - attempt.rows)
      attempt.rows += rows
      attempt.counts[lane].duplicates += duplicates
      if (condemned === null) attempt.counts[lane].events += rows
      if (next < record.eventCount) {
        attempt.offsets[lane] = { position: record.position, index: next }
        return false
      }
    }
    attempt.offsets[lane] = { position: record.end, index: 0 }
    return true
  }

  async #applyCommand(record: JournalRecord): Promise<void> {
    const { command, projectId } = decodeCommand(record.payload)
    // What became of a person is known to the persons consumer alone, and comes by the outbox.
    if (command === 'delete_person') return
    await this.#store.writer.run(
      'insert into deleted_project values ($1::integer, make_timestamptz($2::bigint))',
      [projectId, BigInt(this.#nowMicros())],
    )
  }

  /** Sets the condemned event aside: the first one from `first` on that is not a duplicate. */
  async #setAside(attempt: Attempt, first: PlacedEvent, error: unknown) {
    const { lane, record } = first
    let { index } = first
    while (index < record.eventCount && isDuplicate(record, index)) index++
    const duplicates = index - first.index
    if (index === record.eventCount) return { next: index, rows: 0, duplicates }
    const { writer, quarantineDir } = this.#store
    const file = await quarantineEvent(writer, quarantineDir, { ...first, index }, error, this.#nowMicros())
    attempt.counts[lane].quarantined++
    attempt.remarks.push(`an event could not be stored and was set aside as ${file}: ${shortMessage(error)}`)
    return { next: index + 1, rows: 1, duplicates }
  }

  async #writeProgress(attempt: Attempt, lane: Lane): Promise<void> {
    const offset = attempt.offsets[lane]
    if (sameOffset(offset, this.#offsets[lane])) return
    const { epoch } = this.#options
    await writeProgress(this.#store.writer, epoch, lane, offset, attempt.counts[lane], this.#nowMicros())
  }

  /** Rolls back, learns from the store what is true, and decides how to go on. */
  async #recover(error: unknown, attempt: Attempt): Promise<StepOutcome> {
    this.#loader.discard()
    const failure = failureOf(error)
    const detail = shortMessage(error)
    if (failure === 'fatal') return { kind: 'fatal', detail }
    try {
      // Refused when the failure has already ended the transaction, which is as good.
      await this.#store.writer.run('rollback').catch(() => null)
      const { offsets } = await readStored(this.#store.writer)
      if (lanes.some((lane) => !sameOffset(offsets[lane], this.#offsets[lane])))
        return this.#applied(attempt, positionsOf(offsets), 0)
    } catch (cause) {
      // Not knowing where the store stands, nothing may be loaded: the next start will read it.
      return { kind: 'fatal', detail: `${detail}; then the offset could not be read: ${shortMessage(cause)}` }
    }
    if (failure === 'bug') return { kind: 'stopped', detail }
    if (failure === 'transient') {
      this.pace.failed(attempt.rows)
      return { kind: 'retry', again: 'later', detail }
    }
    if (this.#suspicion?.condemned)
      return { kind: 'stopped', detail: `an event could not even be set aside: ${detail}` }
    this.#suspicion = suspect(this.#suspicion, attempt.lane, attempt.laneRowsMax, error)
    return { kind: 'retry', again: 'now', detail }
  }

  /** Takes over what a committed attempt has changed. */
  #applied(attempt: Attempt, committed: Positions, ms: number): StepOutcome {
    const total = { ...this.#counts }
    for (const lane of lanes) {
      total.events += attempt.counts[lane].events
      total.duplicates += attempt.counts[lane].duplicates
      total.quarantined += attempt.counts[lane].quarantined
    }
    this.#counts = total
    this.#offsets = { ...attempt.offsets }
    if (this.#suspicion !== null) {
      const isPassed = this.#offsets[this.#suspicion.lane].position >= committed[this.#suspicion.lane]
      this.#suspicion = isPassed ? null : acquit(this.#suspicion, attempt.rows)
    }
    const { rows, bytes, remarks } = attempt
    return { kind: 'applied', offsets: this.#offsets, counts: total, rows, bytes, ms, remarks }
  }

  #newAttempt(): Attempt {
    return {
      offsets: { ...this.#offsets },
      counts: forLanes(() => ({ events: 0, duplicates: 0, quarantined: 0 })),
      remarks: [],
      rows: 0,
      bytes: 0,
      lane: 'realtime',
      laneRowsMax: 0,
    }
  }

  #nowMicros(): number {
    return microsFromMs(this.#options.clock.nowMs())
  }
}
