// Applies the journal to the persons' store: one step is one transaction that holds what events change and the offsets
// they lead to. That is the whole exactly-once argument: after any crash or error the store says where to go on.
//
//   given up   at the start and after every error: the next step takes the store and learns where it stands, which
//              also settles a COMMIT whose answer was lost
//   taken      steps apply the journal
//
// A step that fails on its values is tried again in halves until one event stands alone (suspicion.ts of the events
// room); an event that fails alone twice is set aside. When nothing but set-aside events is left of the journal, they
// are not to blame, and consuming stops.

import { forLanes, type Offset, type Offsets, originOffset, type Positions } from '../consumer/offset.ts'
import { openRecord } from '../consumer/record-batch.ts'
import { acquit, type Suspicion, suspect, tryRows } from '../consumer/suspicion.ts'
import { isServiceError } from '../errors.ts'
import type { Warning } from '../identity/changes.ts'
import type { JournalReader, JournalState } from '../journal/journal.ts'
import { lanes } from '../journal/journal.ts'
import type { Clock } from '../lib/clock.ts'
import { failureOf } from './failure.ts'
import { type Gathered, gather, marksOf, turnsOf } from './gather.ts'
import { Pace } from './pace.ts'
import type { ChangesEnd, PersonsStore, SetAsideEvent } from './persons-store.ts'
import { checkProgress, sameOffsets } from './progress.ts'
import { setEventAside, shortMessage } from './quarantine.ts'
import { Spikes } from './spikes.ts'
import type { Touched } from './touched.ts'

export interface ConsumerOptions {
  readonly quarantineDir: string
  /** Of one distinct_id, before they are a spike; 0: there are none. */
  readonly spikeEventsPerSecond: number
  readonly clock: Clock
}

export type StepOutcome =
  | {
      readonly kind: 'applied'
      readonly offsets: Offsets
      /** Of this transaction; 0 when it only took the store. */
      readonly events: number
      readonly quarantined: number
      /** Events that were too many for their distinct_id. */
      readonly spiking: number
      readonly ms: number
      /** Where the outbox ends; null for a store without one. */
      readonly changes: ChangesEnd | null
      /** What this transaction changed; null: anything may have changed before it. */
      readonly touched: Touched
      /** What an operator should know, one sentence each. */
      readonly remarks: readonly string[]
    }
  /** Nothing is known to be applied; try again, at once or after a pause. */
  | { readonly kind: 'retry'; readonly again: 'now' | 'later'; readonly detail: string }
  /** The store is as it was, but consuming cannot go on. */
  | { readonly kind: 'stopped'; readonly detail: string }
  /** The store belongs to another journal: the process must end. */
  | { readonly kind: 'foreign'; readonly detail: string }

/** So many events set aside with none applied between are no coincidence. */
const setAsideInRowMax = 20

export class Consumer {
  readonly #store: PersonsStore
  readonly #reader: JournalReader
  readonly #options: ConsumerOptions
  readonly #pace = new Pace()
  readonly #spikes: Spikes
  #isTaken = false
  /** Where the store stands, or stood when it was given up. */
  #offsets: Offsets = forLanes(() => originOffset)
  /** Of the lanes of a step that failed, one after the other. */
  #suspicions: Suspicion[] = []
  #setAsideInRow = 0

  constructor(store: PersonsStore, reader: JournalReader, options: ConsumerOptions) {
    this.#store = store
    this.#reader = reader
    this.#options = options
    this.#spikes = new Spikes(options.spikeEventsPerSecond)
  }

  /** Takes the store, or applies the next stretch of `journal` in one transaction. */
  async step(journal: JournalState): Promise<StepOutcome> {
    if (this.#setAsideInRow >= setAsideInRowMax) return stoppedBySetAside
    const startedMs = this.#options.clock.monotonicMs()
    try {
      if (!this.#isTaken) return await this.#take(journal)
    } catch (error) {
      return this.#failed(error, null)
    }
    return await this.#apply(positionsIn(journal), startedMs)
  }

  async close(): Promise<void> {
    this.#reader.close()
    await this.#store.close()
  }

  async #take(journal: JournalState): Promise<StepOutcome> {
    const stored = await this.#store.take(journal.epoch)
    const reason = checkProgress(stored, journal, this.#reader)
    if (reason !== null) return { kind: 'stopped', detail: reason }
    // A commit whose answer was lost has happened: nothing before it is suspect any more.
    if (!sameOffsets(stored.offsets, this.#offsets)) this.#suspicions = []
    this.#offsets = stored.offsets
    this.#isTaken = true
    const { offsets, changes } = stored
    const none = { events: 0, quarantined: 0, spiking: 0, ms: 0, remarks: [] }
    return { kind: 'applied', offsets, changes, touched: null, ...none }
  }

  async #apply(committed: Positions, startedMs: number): Promise<StepOutcome> {
    const { clock } = this.#options
    const from = this.#offsets
    const suspicion = this.#suspicions[0] ?? null
    let gathered: Gathered | null = null
    // Nothing of the step before is kept but numbers, strings, and words that were copied.
    this.#reader.takeBack()
    try {
      const turns =
        suspicion === null
          ? turnsOf(this.#pace.eventsMax, from, committed)
          : [{ lane: suspicion.lane, eventsUpTo: Math.min(tryRows(suspicion), this.#pace.eventsMax) }]
      gathered = gather(this.#reader, from, committed, turns, this.#spikes)
      const setAside = suspicion?.condemned ? this.#setAside(from, committed, suspicion) : []
      const { to, gaps } = gathered
      const spikes = this.#spikes.take()
      const inputs = suspicion?.condemned ? [] : gathered.inputs
      if (!sameOffsets(from, to)) {
        const nowMs = clock.nowMs()
        const isApplied = await this.#store.apply({
          from,
          to,
          marks: marksOf(gathered),
          inputs,
          gaps,
          setAside,
          spikes,
          nowMs,
        })
        if (!isApplied) {
          this.#spikes.clear()
          this.#pace.tooLarge(gathered.events)
          return { kind: 'retry', again: 'now', detail: 'the persons of the step are too large' }
        }
      }
      const ms = clock.monotonicMs() - startedMs
      return this.#applied(gathered, setAside, spikes, suspicion, committed, ms)
    } catch (error) {
      return this.#failed(error, gathered)
    }
  }

  #applied(
    { to, gaps, events }: Gathered,
    setAside: readonly SetAsideEvent[],
    spikes: readonly Warning[],
    suspicion: Suspicion | null,
    committed: Positions,
    ms: number,
  ): StepOutcome {
    this.#offsets = to
    this.#pace.applied(events, ms)
    if (setAside.length > 0) this.#setAsideInRow++
    else if (events > 0) this.#setAsideInRow = 0
    if (suspicion !== null) {
      const isPassed = to[suspicion.lane].position >= committed[suspicion.lane]
      const rest = isPassed ? null : acquit(suspicion, events)
      this.#suspicions.splice(0, 1, ...(rest === null ? [] : [rest]))
    }
    const remarks = [
      ...gaps.map(
        ({ lane, position, end }) =>
          `the ${lane} lane is damaged from ${position} to ${end}; went on behind it`,
      ),
      ...setAside.map(
        ({ file, error }) => `an event could not be applied and was set aside as ${file}: ${error}`,
      ),
    ]
    const spiking = spikes.reduce((sum, { count }) => sum + count, 0)
    const { changes, touched } = this.#store
    return {
      kind: 'applied',
      offsets: to,
      events,
      quarantined: setAside.length,
      spiking,
      ms,
      changes,
      touched,
      remarks,
    }
  }

  /** Writes the file of the condemned event, the one that the offset stands at. */
  #setAside(from: Offsets, committed: Positions, { lane, condemned }: Suspicion): SetAsideEvent[] {
    const { position, index } = from[lane]
    const record = this.#reader.read(lane, position, committed[lane], 1).records[0]
    if (record === undefined) return []
    if (record.kind === 'command') throw new Error(`a command failed: ${shortMessage(condemned?.error)}`)
    const batch = openRecord(record)
    const offset: Offset = {
      position: record.position,
      index: record.position === position ? index : 0,
    }
    return [setEventAside(this.#options.quarantineDir, lane, offset, batch, condemned?.error)]
  }

  /** Gives the store up and decides how to go on. */
  #failed(error: unknown, gathered: Gathered | null): StepOutcome {
    this.#isTaken = false
    this.#spikes.clear()
    const detail = isServiceError(error) ? error.detail : shortMessage(error)
    if (isServiceError(error, 'lineage_foreign')) return { kind: 'foreign', detail }
    const failure = failureOf(error)
    if (failure === 'bug') return { kind: 'stopped', detail }
    if (failure === 'transient' || gathered === null) {
      // It may have taken too long, or too much memory.
      if (gathered !== null) this.#pace.tooLarge(gathered.events)
      return { kind: 'retry', again: 'later', detail }
    }
    const [suspicion, ...others] = this.#suspicions
    if (suspicion?.condemned)
      return { kind: 'stopped', detail: `an event could not even be set aside: ${detail}` }
    this.#suspicions =
      suspicion === undefined
        ? suspectsOf(gathered)
        : [suspect(suspicion, suspicion.lane, gathered.events, error), ...others]
    return { kind: 'retry', again: 'now', detail }
  }
}

/** All events of a step: it is not known in which lane the one at fault is. */
function suspectsOf({ laneEvents }: Gathered): Suspicion[] {
  return lanes
    .filter((lane) => laneEvents[lane] > 0)
    .map((lane) => ({ lane, rows: laneEvents[lane], condemned: null }))
}

const stoppedBySetAside: StepOutcome = {
  kind: 'stopped',
  detail: `${setAsideInRowMax} events in a row could not be applied, which is hardly the fault of the events`,
}

function positionsIn({ lanes: states }: JournalState): Positions {
  return forLanes((lane) => states[lane].committed)
}
