// The persons as the main thread sees them: how far they are, and a pump that keeps them up with the journal. All work
// is done by a pool of exactly one thread (thread.ts), on a connection of its own.
//
// Opening does not block. While Postgres is away or another process has its persons, steps are tried again for ever
// and `state().reason` says why nothing is applied; capture and the events store do not notice. A lost thread is never
// replaced: `onFailed` tells the process to end.

import { Piscina } from 'piscina'
import { forLanes, type Offsets, originOffset, type Positions, positionsOf } from '../consumer/offset.ts'
import { spaced } from '../consumer/spaced.ts'
import { Waiters } from '../consumer/waiters.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import { type Journal, type Lane, lanes, type Position } from '../journal/journal.ts'
import { unreachable } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { threadFlags } from '../lib/thread-flags.ts'
import type { StepOutcome } from './consumer.ts'
import type { PersonsTasks } from './messages.ts'
import type { ChangesEnd } from './persons-store.ts'
import { type Next, Pump } from './pump.ts'
import type { Touched } from './touched.ts'

export interface PersonsLog {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface PersonsOptions {
  readonly journalDir: string
  readonly quarantineDir: string
  readonly spikeEventsPerSecond: number
  readonly journal: Pick<Journal, 'state' | 'onCommitted'>
  /** How to reach Postgres, once its schema is up to date. When it never will be, nothing is ever applied. */
  readonly connectionString: Promise<string>
  readonly log: PersonsLog
  readonly clock: Clock
  /** Where a crash test wants the process to end (kill-point.ts). */
  readonly killAt: string | null
}

export interface PersonsState {
  /** Why nothing is applied at the moment; null while all is well. */
  readonly reason: string | null
  /** In this run. */
  readonly quarantined: number
  /** Events that were too many for their distinct_id, in this run. */
  readonly spiking: number
  readonly lastTransaction: { readonly events: number; readonly ms: number } | null
  readonly applied: Positions
  /** Where the outbox ends, the same object until that has changed; null before the store was taken. */
  readonly changes: ChangesEnd | null
  /** Bytes of journal that are committed and not applied. */
  readonly lagBytes: Readonly<Record<Lane, number>>
}

export interface Persons {
  state(): PersonsState
  /** Resolves when everything of `lane` before `position` is applied, however long that takes. Errors: stopping. */
  waitUntilApplied(lane: Lane, position: Position): Promise<void>
  /** Calls `listener` with what the journal may forget, as it is learnt and after each step. */
  onApplied(listener: (applied: Positions) => void): void
  /** Calls `listener` with what a step changed, before `state()` or anybody else says that it is applied. */
  onTouched(listener: (touched: Touched) => void): void
  /** Calls `listener` once when the thread is lost or the database is of another journal: the process should end. */
  onFailed(listener: (error: ServiceError) => void): void
  /** Applies what is committed if Postgres is there, and closes. */
  close(): Promise<void>
}

/** From dist/src/persons to dist/workers. */
const threadFile = new URL('../../workers/persons.js', import.meta.url).href
/** Steps aim at less than a second. */
const slowStepMs = 10_000
/** A stop waits no longer for the backlog; the rest stays in the journal. */
const finishMsMax = 10_000

/** Starts the persons thread. Returns at once. */
export function openPersons(options: PersonsOptions): Persons {
  return new PersonsClient(options)
}

class PersonsClient implements Persons {
  readonly #options: PersonsOptions
  readonly #pool: Piscina
  readonly #pump: Pump
  readonly #waiters = new Waiters()
  readonly #touchedListeners: ((touched: Touched) => void)[] = []
  readonly #appliedListeners: ((applied: Positions) => void)[] = []
  readonly #failedListeners: ((error: ServiceError) => void)[] = []
  #isOpen = false
  #isClosing = false
  #failure: ServiceError | null = null
  #reason: string | null = 'Postgres is still starting'
  /** Of the step under way; null between steps. */
  #stepStartedMs: number | null = null
  /** Null until the store was taken for the first time. */
  #offsets: Offsets | null = null
  #quarantined = 0
  #spiking = 0
  #lastTransaction: PersonsState['lastTransaction'] = null
  #changes: ChangesEnd | null = null

  constructor(options: PersonsOptions) {
    this.#options = options
    this.#pool = new Piscina({
      filename: threadFile,
      minThreads: 1,
      maxThreads: 1,
      maxQueue: 2,
      // With Atomics on, the thread would sleep between tasks and its connection would not be heard.
      atomics: 'disabled',
      // Rows of a step outlive the default 48 MiB and were copied again and again: a third of the thread's time
      // (new persons 74 → 41 µs, changed ones 41 → 27 µs of CPU an event, Node 20.20). With 192 it took 60 MB more
      // while bodies of 120,000 events came, and no less time.
      resourceLimits: { maxYoungGenerationSizeMb: 96 },
      execArgv: threadFlags,
    })
    this.#pool.on('workerDestroy', () => this.#fail(lost('it has ended')))
    this.#pool.on('error', (error: unknown) => this.#fail(lost(error)))
    this.#pump = new Pump(
      {
        waitingBytes: () => this.#waitingBytes(),
        step: () => this.#step(),
        failed: (error) => this.#fail(lost(error)),
      },
      options.clock,
    )
    options.journal.onCommitted(spaced(() => this.#wake()))
    options.connectionString.then(
      (connectionString) => this.#open(connectionString).catch((error: unknown) => this.#fail(lost(error))),
      () => {}, // whoever opens the database hears of it
    )
  }

  state(): PersonsState {
    return {
      reason: this.#failure?.detail ?? this.#reason ?? this.#slowStep(),
      quarantined: this.#quarantined,
      spiking: this.#spiking,
      lastTransaction: this.#lastTransaction,
      applied: positionsOf(this.#offsets ?? originOffsets),
      changes: this.#changes,
      lagBytes: forLanes((lane) => this.#lagBytes(lane)),
    }
  }

  waitUntilApplied(lane: Lane, position: Position): Promise<void> {
    if (this.#offsets !== null && this.#offsets[lane].position >= position) return Promise.resolve()
    if (this.#isClosing || this.#failure !== null) return Promise.reject(new ServiceError('stopping'))
    const waiting = this.#waiters.wait(lane, position)
    this.#wake()
    return waiting
  }

  onApplied(listener: (applied: Positions) => void): void {
    this.#appliedListeners.push(listener)
  }

  onTouched(listener: (touched: Touched) => void): void {
    this.#touchedListeners.push(listener)
  }

  onFailed(listener: (error: ServiceError) => void): void {
    if (this.#failure === null) this.#failedListeners.push(listener)
    else listener(this.#failure)
  }

  async close(): Promise<void> {
    if (this.#isClosing) return
    const isWell = this.#isOpen && this.#failure === null
    const isIdle = isWell && (await this.#pump.finish(finishMsMax))
    this.#isClosing = true
    this.#pump.halt()
    this.#waiters.reject(new ServiceError('stopping'))
    // A step that hangs ends with its thread: the database undoes what it began.
    if (isIdle && this.#failure === null) await this.#ask('close', {})
    await this.#pool.destroy()
  }

  async #open(connectionString: string): Promise<void> {
    if (this.#isClosing) return
    const { journalDir, quarantineDir, spikeEventsPerSecond, killAt } = this.#options
    await this.#ask('open', { connectionString, journalDir, quarantineDir, spikeEventsPerSecond, killAt })
    this.#isOpen = true
    this.#wake()
  }

  #wake(): void {
    if (!this.#isOpen || this.#isClosing) return
    if (this.#waiters.count > 0) this.#pump.hurry()
    else this.#pump.wake()
  }

  /** Sends one task to the thread and returns its answer. */
  async #ask<K extends keyof PersonsTasks>(
    kind: K,
    task: Omit<PersonsTasks[K][0], 'kind'>,
  ): Promise<PersonsTasks[K][1]> {
    // The thread answers each kind of task as PersonsTasks says.
    return (await this.#pool.run({ kind, ...task })) as PersonsTasks[K][1]
  }

  async #step(): Promise<Next> {
    const { log, journal } = this.#options
    this.#stepStartedMs = this.#options.clock.monotonicMs()
    const outcome = await this.#ask('step', { journal: journal.state() })
    this.#stepStartedMs = null
    switch (outcome.kind) {
      case 'applied':
        this.#applied(outcome)
        return 'again'
      case 'retry':
        if (outcome.again === 'later') this.#reason = outcome.detail
        log.warn({}, `persons: a step was undone and is tried again: ${outcome.detail}`)
        return outcome.again === 'now' ? 'again' : 'later'
      case 'stopped':
        this.#reason = outcome.detail
        log.error({}, `persons: consuming is stopped: ${outcome.detail}`)
        return 'halt'
      case 'foreign':
        this.#fail(new ServiceError('lineage_foreign', { detail: outcome.detail }))
        return 'halt'
      default:
        return unreachable(outcome)
    }
  }

  #applied(outcome: StepOutcome & { kind: 'applied' }): void {
    const { offsets, events, quarantined, spiking, ms, changes, touched, remarks } = outcome
    for (const listener of this.#touchedListeners) listener(touched)
    this.#reason = null
    if (changes?.epoch !== this.#changes?.epoch || changes?.seq !== this.#changes?.seq)
      this.#changes = changes
    this.#offsets = offsets
    this.#quarantined += quarantined
    this.#spiking += spiking
    if (events > 0) this.#lastTransaction = { events, ms }
    for (const remark of remarks) this.#options.log.warn({}, `persons: ${remark}`)
    this.#waiters.settle(offsets)
    if (this.#waiters.count > 0) this.#pump.hurry()
    const applied = positionsOf(offsets)
    for (const listener of this.#appliedListeners) listener(applied)
  }

  /** A Postgres that hangs fails nothing for minutes: the limit of a statement is made for the longest. */
  #slowStep(): string | null {
    if (this.#stepStartedMs === null) return null
    const ms = this.#options.clock.monotonicMs() - this.#stepStartedMs
    return ms < slowStepMs
      ? null
      : `Postgres has been busy with a step, or silent, for ${Math.floor(ms / 1000)} s`
  }

  #fail(failure: ServiceError): void {
    if (this.#failure !== null || this.#isClosing) return
    this.#failure = failure
    this.#pump.halt()
    this.#waiters.reject(new ServiceError('stopping'))
    this.#options.log.error({ err: failure }, 'persons: the consumer failed')
    for (const listener of this.#failedListeners) listener(failure)
  }

  #waitingBytes(): number {
    if (this.#offsets === null) return Number.POSITIVE_INFINITY
    return lanes.reduce((sum, lane) => sum + this.#lagBytes(lane), 0)
  }

  #lagBytes(lane: Lane): number {
    const { committed } = this.#options.journal.state().lanes[lane]
    return Math.max(0, committed - (this.#offsets ?? originOffsets)[lane].position)
  }
}

const originOffsets: Offsets = forLanes(() => originOffset)

function lost(why: unknown): ServiceError {
  if (isServiceError(why)) return why
  const detail = `the persons thread was lost: ${why instanceof Error ? why.message : String(why)}`
  return new ServiceError('storage_failed', { detail })
}
