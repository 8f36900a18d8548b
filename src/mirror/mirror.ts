// Keeps the events store's mirror of Postgres up: reads the outbox of the persons consumer page by page and hands it
// to the events thread, which remembers how far it came. Lives on the main thread, one page at a time, and upkeep of
// the mirror between the pages. Either goes on while the other fails: a copy of the mirror that does not succeed is
// given up for the next page, and begun again later.
//
// Nothing waits for it: events are loaded while Postgres is away, and belong to whom they were born to until the mirror
// hears more. After a checkpoint of the events store, the outbox forgets what is safe there.

import { setTimeout as delay } from 'node:timers/promises'
import { Backoff } from '../consumer/backoff.ts'
import { Loop } from '../consumer/loop.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Events } from '../events/client.ts'
import type { MirrorState } from '../events/mirror-writer.ts'
import type { Clock } from '../lib/clock.ts'
import type { Persons, PersonsState } from '../persons/client.ts'
import type { ChangesEnd } from '../persons/persons-store.ts'
import type { Postgres } from '../postgres/pool.ts'
import { isWithinStep } from './goal.ts'
import { prune, readNext } from './outbox.ts'

export interface MirrorOptions {
  readonly postgres: Pick<Postgres, 'query'>
  readonly events: Pick<Events, 'mirror' | 'onCheckpoint'>
  readonly persons: Pick<Persons, 'onApplied'> & { state(): Pick<PersonsState, 'changes'> }
  readonly log: { warn(fields: object, message: string): void }
  readonly clock: Clock
}

export interface MirrorProgress {
  /** Changes of persons and kinds of groups that reads of events do not see yet; 1 or more while it begins anew. */
  readonly waiting: number
  /** Why it does not go on at the moment; null while all is well. */
  readonly reason: string | null
}

export interface Mirror {
  state(): MirrorProgress
  /** Resolves when reads of events see all that the persons consumer has changed by now. Errors: stopping. */
  waitUntilMirrored(): Promise<void>
  /** Mirrors what waits if Postgres is there, and ends. */
  close(): Promise<void>
}

/** Somebody who waits for the mirror to come to `end`. */
interface Waiter {
  readonly end: ChangesEnd
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Rows of a page: about 0.5 MB in memory, and some 20 ms of the events thread. */
const pageRowsMax = 5_000
const pruneRowsMax = 5_000
const changesRetry = { msMin: 100, msMax: 10_000, spread: 0 }
/** Upkeep that fails costs the more the further it came: a copy may have to begin again. */
const upkeepRetry = { msMin: 1_000, msMax: 300_000, spread: 0 }
/** A stop waits no longer; the rest stays in the outbox. */
const finishMsMax = 5_000

/** Starts to keep the mirror up. Returns at once. */
export function openMirror(options: MirrorOptions): Mirror {
  return new MirrorPump(options)
}

class MirrorPump implements Mirror {
  readonly #options: MirrorOptions
  readonly #loop: Loop
  /** There may be changes. */
  #isWoken = false
  #isPruneDue = false
  #isFinishing = false
  readonly #changesBackoff: Backoff
  readonly #upkeepBackoff: Backoff
  #changesReason: string | null = null
  #upkeepReason: string | null = null
  #waiters: Waiter[] = []
  /** Where the outbox ended when it was last read, and what the consumer had said of it by then. */
  #read: { readonly end: ChangesEnd; readonly told: ChangesEnd | null } | null = null

  constructor(options: MirrorOptions) {
    this.#options = options
    const { events, persons, clock, log } = options
    this.#changesBackoff = new Backoff(clock, changesRetry)
    this.#upkeepBackoff = new Backoff(clock, upkeepRetry)
    this.#loop = new Loop({
      dueInMs: () => Math.min(this.#upkeepDueInMs(), this.#changesDueInMs()),
      turn: () => (this.#upkeepDueInMs() <= 0 ? this.#tend() : this.#takeChanges()),
      failed: (error) => log.warn({}, `mirror: it has stopped: ${error}`),
    })
    events.mirror.onOpened(() => this.#wake())
    persons.onApplied(() => {
      if (this.state().waiting > 0 || this.#read === null) this.#wake()
    })
    events.onCheckpoint(() => {
      this.#isPruneDue = true
      this.#wake()
    })
  }

  state(): MirrorProgress {
    const reasons = [this.#changesReason, this.#upkeepReason].filter((reason) => reason !== null)
    return { waiting: this.#waiting(), reason: reasons.length === 0 ? null : reasons.join('; ') }
  }

  waitUntilMirrored(): Promise<void> {
    if (this.#loop.isHalted) return Promise.reject(new ServiceError('stopping'))
    const end = this.#options.persons.state().changes
    if (end === null || this.#isAt(end)) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ end, resolve, reject })
      this.#wake()
    })
  }

  async close(): Promise<void> {
    if (this.#loop.isHalted) return
    this.#isFinishing = true
    this.#wake()
    const tooLate = new AbortController()
    await Promise.race([
      this.#loop.rest(),
      delay(finishMsMax, null, { signal: tooLate.signal }).catch(() => null), // it was in time
    ])
    tooLate.abort()
    this.#loop.halt()
    for (const { reject } of this.#waiters.splice(0)) reject(new ServiceError('stopping'))
  }

  #waiting(): number {
    const end = this.#end()
    const mirror = this.#options.events.mirror.state()
    const cursor = mirror?.cursor ?? null
    if (end === null) return 0
    // What copies itself, which is upkeep, is read meanwhile, and so is what lacks half a step; a base is not.
    const rest = cursor?.rest ?? null
    const isBaseLacking = rest !== null && !isCopyingItself(mirror) && !isWithinStep(rest)
    if (cursor?.epoch !== end.epoch || isBaseLacking) return Math.max(1, end.seq)
    // An outbox that ends before the mirror is another one.
    return end.seq < cursor.seq ? 1 : end.seq - cursor.seq
  }

  #isAt(end: ChangesEnd): boolean {
    const cursor = this.#options.events.mirror.state()?.cursor ?? null
    // An outbox that began anew has another epoch, and says all that the one before it said.
    if (cursor?.epoch !== end.epoch) return this.#waiting() === 0
    return cursor.rest === null && cursor.seq >= end.seq
  }

  #settle(): void {
    const reached = this.#waiters.filter(({ end }) => this.#isAt(end))
    this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter))
    for (const { resolve } of reached) resolve()
  }

  /** Where the outbox ends: as the consumer has said since it was last read, else as it was then. */
  #end(): ChangesEnd | null {
    const { changes } = this.#options.persons.state()
    return this.#read !== null && this.#read.told === changes ? this.#read.end : changes
  }

  #wake(): void {
    this.#isWoken = true
    this.#loop.wake()
  }

  #upkeepDueInMs(): number {
    const isDue = this.#options.events.mirror.state()?.isTendingDue === true && !this.#isFinishing
    return isDue ? this.#upkeepBackoff.leftMs() : Number.POSITIVE_INFINITY
  }

  #changesDueInMs(): number {
    // A stop tries once more, at once: Postgres may be there again since the last failure.
    if (this.#isFinishing) return this.#isWoken ? 0 : Number.POSITIVE_INFINITY
    const isDue = this.#changesBackoff.isFailing || this.#isWoken
    return isDue ? this.#changesBackoff.leftMs() : Number.POSITIVE_INFINITY
  }

  async #tend(): Promise<void> {
    try {
      const { isTendingDue } = await this.#options.events.mirror.tend()
      if (isTendingDue) return
      this.#upkeepBackoff.succeeded()
      this.#upkeepReason = null
      // Changes may have waited for it.
      this.#isWoken = true
    } catch (error) {
      this.#upkeepReason = `upkeep fails: ${this.#failed(error, this.#upkeepBackoff, 'its upkeep goes on later')}`
    }
  }

  async #takeChanges(): Promise<void> {
    this.#isWoken = false
    try {
      if (await this.#takePage()) this.#isWoken = true
      this.#settle()
      this.#changesBackoff.succeeded()
      this.#changesReason = null
    } catch (error) {
      const detail = this.#failed(error, this.#changesBackoff, 'it goes on later')
      // The one that the whole server has already is no news.
      this.#changesReason = isServiceError(error, 'postgres_unavailable') ? null : detail
    }
  }

  /** Takes the next page. Returns false when there was none. */
  async #takePage(): Promise<boolean> {
    const { postgres, events, persons } = this.#options
    const mirror = events.mirror.state()
    // The store's opening and the consumer's beginning are both followed by a call of a listener.
    if (mirror === null) return false
    const isCopying = isCopyingItself(mirror)
    // A stop does not wait for it; else it is upkeep's turn as long as that does not fail.
    if (isCopying && this.#isFinishing) return false
    if (this.#isPruneDue && mirror.checkpointed !== null) {
      const count = await prune(postgres, mirror.checkpointed, pruneRowsMax)
      this.#isPruneDue = count === pruneRowsMax
    }
    const told = persons.state().changes
    const cursor = isCopying && mirror.cursor !== null ? { ...mirror.cursor, rest: null } : mirror.cursor
    const { page, end } = await readNext(postgres, cursor, pageRowsMax)
    this.#read = end && { end, told }
    if (page !== null) await events.mirror.apply(page)
    return page !== null || this.#isPruneDue
  }

  /** Returns what the error says. */
  #failed(error: unknown, backoff: Backoff, then: string): string {
    const detail = isServiceError(error) ? error.detail : String(error)
    if (!backoff.isFailing) this.#options.log.warn({}, `mirror: ${then}: ${detail}`)
    backoff.failed()
    return detail
  }
}

/** True while it gets its base from the one before. */
function isCopyingItself(mirror: MirrorState | null): boolean {
  const rest = mirror?.cursor?.rest ?? null
  return rest !== null && mirror?.isTendingDue === true
}
