// The events store as the main thread sees it: reads, the state of loading, and a pump that keeps the store up with
// the journal. All work is done by a pool of exactly one thread (thread.ts).
//
// Opening does not block: `openEvents` returns at once, and until the store is open reads are answered with
// events_unavailable. A lost store or thread is never replaced: `onFailed` tells the process to end.

import { forLanes, type Offsets, originOffset, type Positions, positionsOf } from '../consumer/offset.ts'
import { spaced } from '../consumer/spaced.ts'
import { Waiters } from '../consumer/waiters.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Journal, Lane, Position } from '../journal/journal.ts'
import { lanes } from '../journal/journal.ts'
import type { Clock } from '../lib/clock.ts'
import type { StepOutcome } from './consumer.ts'
import type { Extracted, ExtractRequest } from './extract.ts'
import { messageOf } from './failure.ts'
import type { EventFilter, EventPage } from './list.ts'
import type { EventsTasks, QueryResult, QueryValue } from './messages.ts'
import { MirrorWriter } from './mirror-writer.ts'
import { EventsPool, type Fields, lost } from './pool.ts'
import type { Counts, EventsState } from './progress.ts'
import { Pump } from './pump.ts'
import { ReadGate } from './read-gate.ts'
import type { Selected, SelectLimits } from './select.ts'
import { type Copies, type OnCancel, type PeoplesQuery, Selects, type SelectThread } from './selects.ts'
import { Setback } from './setback.ts'

export type EventsLog = Readonly<Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>>

export interface EventsOptions {
  readonly dataDir: string
  readonly journalDir: string
  readonly journal: Pick<Journal, 'state' | 'onCommitted'>
  readonly memoryLimitBytes: number
  readonly threads: number
  /** For SQL of people; those of selects.ts when absent. */
  readonly selectLimits?: SelectLimits
  readonly log: EventsLog
  readonly clock: Clock
  /** Where a crash test wants the process to end (kill-point.ts). */
  readonly killAt: string | null
}

export interface Events {
  readonly mirror: MirrorWriter
  /** Errors: events_unavailable, reads_overloaded, invalid_input. */
  listEvents(filter: EventFilter): Promise<EventPage>
  /** Runs one SELECT of our own making, with parameters $1, $2, …. Errors: as `listEvents`. */
  query(sql: string, values?: readonly QueryValue[]): Promise<QueryResult>
  /** The same for an export: it gives way to ingestion where it reads `temp.main.paced_events` or `paced_event`. */
  queryForExport(sql: string, values?: readonly QueryValue[]): Promise<QueryResult>
  /** Runs SQL of people. Errors: as `listEvents`, and what `copies` throws. */
  select(query: PeoplesQuery): Promise<Selected>
  /** The same, into a Parquet file with all rows; answers its bytes. */
  selectParquet(query: Omit<PeoplesQuery, 'rowsMax'>): Promise<Uint8Array>
  /** Writes the rows of a SELECT into a file below `DATA_DIR/exports`. Errors: as `select`. */
  extract(request: ExtractRequest, onCancel: OnCancel, copies?: Copies | null): Promise<Extracted>
  state(): EventsState
  /** Resolves when everything of `lane` before `position` can be read. Errors: events_unavailable, stopping. */
  waitUntilApplied(lane: Lane, position: Position): Promise<void>
  /** Calls `listener` with what the journal may forget, after each checkpoint. */
  onCheckpoint(listener: (checkpointed: Positions) => void): void
  /** Calls `listener` once when the store cannot be opened or is lost: the process should end. */
  onFailed(listener: (error: ServiceError) => void): void
  /** Loads what is committed, checkpoints and closes. */
  close(): Promise<void>
}

/** Reads at once, and in line. */
const readsMax = 4
const longKinds: readonly string[] = ['select', 'select_parquet', 'extract', 'query'] // they take places
const readsWaitingMax = 64

/** Starts the events thread. Returns before the store is open. */
export function openEvents(options: EventsOptions): Events {
  return new EventsClient(options)
}

class EventsClient implements Events {
  readonly #options: EventsOptions
  readonly mirror: MirrorWriter
  readonly #pool: EventsPool
  readonly #pump: Pump
  readonly #gate = new ReadGate(readsMax, readsWaitingMax)
  readonly #selects: Selects
  readonly #waiters = new Waiters()
  readonly #opening: Promise<void>
  readonly #checkpointListeners: ((checkpointed: Positions) => void)[] = []
  readonly #failedListeners: ((error: ServiceError) => void)[] = []
  #isReady = false
  #isClosing = false
  #failure: ServiceError | null = null
  #reason: string | null = null
  readonly #setback = new Setback()
  #offsets: Offsets = forLanes(() => originOffset)
  #counts: Counts = { events: 0, duplicates: 0, quarantined: 0 }
  #checkpointed: Positions | null = null
  #lastTransaction: EventsState['lastTransaction'] = null

  constructor(options: EventsOptions) {
    this.#options = options
    this.#pool = new EventsPool(readsMax, (error) => this.#fail(error))
    const ask: SelectThread['ask'] = (kind, task) =>
      longKinds.includes(kind) ? this.#read(kind, task) : this.#guarded(() => this.#pool.ask(kind, task))
    this.#selects = new Selects({ ask }, options.selectLimits ?? null, options.clock)
    this.#pump = new Pump(
      {
        waitingBytes: () => lanes.reduce((sum, lane) => sum + this.#lagBytes(lane), 0),
        isMoreComing: () => lanes.some((lane) => options.journal.state().lanes[lane].queuedBytes > 0),
        step: () => this.#pool.ask('step', { committed: this.#committed() }),
        checkpoint: () => this.#checkpoint(),
        stepped: (outcome) => this.#stepped(outcome),
        failed: (error) => this.#fail(error),
      },
      options.clock,
    )
    this.mirror = new MirrorWriter({
      write: (kind, task) => this.#guarded(() => this.#pool.ask(kind, task)),
      wrote: (walBytes) => this.#pump.wrote(walBytes),
    })
    options.journal.onCommitted(spaced(() => this.#wake()))
    this.#opening = this.#open().catch((error: unknown) => this.#fail(error))
  }

  listEvents(filter: EventFilter): Promise<EventPage> {
    return this.#read('list', { filter })
  }

  query(sql: string, values: readonly QueryValue[] = []): Promise<QueryResult> {
    return this.#read('query', { sql, values, isForExport: false })
  }

  queryForExport(sql: string, values: readonly QueryValue[] = []): Promise<QueryResult> {
    return this.#selects.queryForExport(sql, values)
  }

  select(query: PeoplesQuery): Promise<Selected> {
    return this.#selects.run(query)
  }

  selectParquet(query: Omit<PeoplesQuery, 'rowsMax'>): Promise<Uint8Array> {
    return this.#selects.runParquet(query)
  }

  extract(request: ExtractRequest, onCancel: OnCancel, copies: Copies | null = null): Promise<Extracted> {
    return this.#selects.extract(request, onCancel, copies)
  }

  state(): EventsState {
    return {
      isReady: this.#isReady,
      reason: this.#failure?.detail ?? this.#reason ?? this.#setback.reason,
      applied: positionsOf(this.#offsets),
      checkpointed: this.#checkpointed,
      lagBytes: forLanes((lane) => this.#lagBytes(lane)),
      counts: this.#counts,
      lastTransaction: this.#lastTransaction,
    }
  }

  waitUntilApplied(lane: Lane, position: Position): Promise<void> {
    if (this.#isReady && this.#offsets[lane].position >= position) return Promise.resolve()
    const refusal = this.#refusal()
    if (refusal !== null) return Promise.reject(refusal)
    const waiting = this.#waiters.wait(lane, position)
    if (this.#isReady) this.#pump.hurry()
    return waiting
  }

  onCheckpoint(listener: (checkpointed: Positions) => void): void {
    this.#checkpointListeners.push(listener)
  }

  onFailed(listener: (error: ServiceError) => void): void {
    if (this.#failure === null) this.#failedListeners.push(listener)
    else listener(this.#failure)
  }

  async close(): Promise<void> {
    if (this.#isClosing) return
    await this.#opening
    try {
      if (this.#isReady && this.#reason === null) await this.#pump.finish()
      else if (this.#isReady) await this.#checkpoint()
    } finally {
      this.#isClosing = true
      this.#isReady = false
      this.#pump.halt()
      this.#waiters.reject(new ServiceError('stopping'))
      if (this.#failure === null) await this.#pool.ask('close', {})
      await this.#pool.destroy()
    }
  }

  async #open(): Promise<void> {
    const { dataDir, journalDir, journal, memoryLimitBytes, threads, killAt, log } = this.#options
    const task = { dataDir, journalDir, journal: journal.state(), memoryLimitBytes, threads, killAt }
    const opened = await this.#pool.ask('open', task)
    this.#offsets = opened.offsets
    this.#counts = opened.counts
    this.mirror.opened(opened.mirrored)
    this.#reason = opened.reason
    for (const remedy of opened.remedies) log.warn({}, `events: ${remedy}`)
    if (opened.reason !== null) log.error({}, `events: loading is stopped: ${opened.reason}`)
    this.#isReady = true
    this.#waiters.settle(this.#offsets)
    if (opened.reason !== null) this.#waiters.reject(this.#unavailable())
    this.#wake()
  }

  #wake(): void {
    if (!this.#isReady || this.#reason !== null || this.#failure !== null) return
    if (this.#waiters.count > 0) this.#pump.hurry()
    else this.#pump.wake()
  }

  #read<K extends keyof EventsTasks>(kind: K, task: Fields<K>): Promise<EventsTasks[K][1]> {
    return this.#guarded(() => this.#gate.run(() => this.#pool.ask(kind, task)))
  }

  /** Asks the store something while it is there. Errors: events_unavailable; those of `ask`. */
  async #guarded<T>(ask: () => Promise<T>): Promise<T> {
    if (!this.#isReady || this.#failure !== null) throw this.#unavailable()
    try {
      return await ask()
    } catch (error) {
      if (isServiceError(error, 'storage_failed')) this.#fail(error)
      throw error
    }
  }

  async #checkpoint() {
    const done = await this.#pool.ask('checkpoint', {})
    if (done.offsets !== null) {
      this.#checkpointed = positionsOf(done.offsets)
      this.mirror.checkpointed(done.mirrored)
      for (const listener of this.#checkpointListeners) listener(this.#checkpointed)
    }
    return done
  }

  #stepped(outcome: StepOutcome): boolean {
    const { log } = this.#options
    switch (outcome.kind) {
      case 'applied':
        this.#offsets = outcome.offsets
        this.#setback.over()
        this.#counts = outcome.counts
        this.#lastTransaction = { rows: outcome.rows, ms: outcome.ms }
        for (const remark of outcome.remarks) log.warn({}, `events: ${remark}`)
        this.#waiters.settle(this.#offsets)
        if (this.#waiters.count > 0) this.#pump.hurry()
        return true
      case 'retry':
        log.warn({}, `events: a transaction was rolled back and is tried again: ${outcome.detail}`)
        this.#setback.failed(outcome.detail)
        return true
      case 'stopped':
        log.error({}, `events: loading is stopped: ${outcome.detail}`)
        this.#reason = outcome.detail
        this.#waiters.reject(this.#unavailable())
        return false
      case 'fatal':
        this.#fail(new ServiceError('storage_failed', { detail: outcome.detail }))
        return false
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== null || this.#isClosing) return
    const failure = isServiceError(error) ? error : lost(messageOf(error))
    this.#failure = failure
    this.#isReady = false
    this.#pump.halt()
    this.#waiters.reject(this.#unavailable())
    this.#options.log.error({ err: failure }, 'events: the store failed')
    for (const listener of this.#failedListeners) listener(failure)
  }

  #refusal(): ServiceError | null {
    if (this.#isClosing) return new ServiceError('stopping')
    return this.#failure === null && this.#reason === null ? null : this.#unavailable()
  }

  #unavailable(): ServiceError {
    const reason = this.#failure?.detail ?? this.#reason
    const options = reason === null ? {} : { detail: `The events store is not ready: ${reason}` }
    return new ServiceError('events_unavailable', options)
  }

  #committed(): Positions {
    const state = this.#options.journal.state()
    return forLanes((lane) => state.lanes[lane].committed)
  }

  #lagBytes(lane: Lane): number {
    return Math.max(0, this.#options.journal.state().lanes[lane].committed - this.#offsets[lane].position)
  }
}
