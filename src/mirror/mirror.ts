// Keeps the events store's mirror of Postgres up: reads the outbox of the persons consumer page by page and hands it
// to the events thread, which remembers how far it came. Lives on the main thread, one page at a time.
//
//   idle      the mirror has everything; the consumer's next change, or a timer after a failure, ends it
//   running   pages follow each other until the mirror has everything and its upkeep is done
//   halted    closed; for good
//
// Nothing waits for it: events are loaded while Postgres is away, and belong to whom they were born to until the mirror
// hears more. After a checkpoint of the events store, the outbox forgets what is safe there.

import { setTimeout as delay } from 'node:timers/promises'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Events } from '../events/client.ts'
import type { MirrorState } from '../events/mirror-writer.ts'
import type { Clock } from '../lib/clock.ts'
import type { Persons, PersonsState } from '../persons/client.ts'
import type { ChangesEnd } from '../persons/persons-store.ts'
import type { Postgres } from '../postgres/pool.ts'
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
const retryMsMin = 100
const retryMsMax = 10_000
/** A stop waits no longer; the rest stays in the outbox. */
const finishMsMax = 5_000

/** Starts to keep the mirror up. Returns at once. */
export function openMirror(options: MirrorOptions): Mirror {
  return new MirrorPump(options)
}

class MirrorPump implements Mirror {
  readonly #options: MirrorOptions
  #mode: 'idle' | 'running' | 'halted' = 'idle'
  #running: Promise<void> = Promise.resolve()
  #isWoken = false
  #isPruneDue = false
  #isFinishing = false
  #timer: NodeJS.Timeout | null = null
  #retries = 0
  #reason: string | null = null
  #waiters: Waiter[] = []
  /** Where the outbox ended when it was last read, and what the consumer had said of it by then. */
  #read: { readonly end: ChangesEnd; readonly told: ChangesEnd | null } | null = null

  constructor(options: MirrorOptions) {
    this.#options = options
    const { events, persons } = options
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
    return { waiting: this.#waiting(), reason: this.#reason }
  }

  waitUntilMirrored(): Promise<void> {
    if (this.#mode === 'halted') return Promise.reject(new ServiceError('stopping'))
    const end = this.#options.persons.state().changes
    if (end === null || this.#isAt(end)) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ end, resolve, reject })
      this.#wake()
    })
  }

  async close(): Promise<void> {
    if (this.#mode === 'halted') return
    this.#isFinishing = true
    if (this.#retries === 0) this.#wake()
    const tooLate = new AbortController()
    await Promise.race([
      this.#running,
      delay(finishMsMax, null, { signal: tooLate.signal }).catch(() => null), // it was in time
    ])
    tooLate.abort()
    this.#mode = 'halted'
    this.#clearTimer()
    for (const { reject } of this.#waiters.splice(0)) reject(new ServiceError('stopping'))
  }

  #waiting(): number {
    const end = this.#end()
    const mirror = this.#options.events.mirror.state()
    const cursor = mirror?.cursor ?? null
    if (end === null) return 0
    // What copies itself, which is upkeep, is read meanwhile; a base that comes from Postgres is not.
    const isBaseLacking = cursor !== null && cursor.rest !== null && !isCopyingItself(mirror)
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
    if (this.#mode !== 'idle' || (this.#timer !== null && !this.#isFinishing)) return
    this.#mode = 'running'
    this.#running = this.#run()
  }

  async #run(): Promise<void> {
    this.#clearTimer()
    while (this.#mode === 'running') {
      this.#isWoken = false
      try {
        const isMore = await this.#step()
        this.#settle()
        this.#retries = 0
        this.#reason = null
        if (!isMore && !this.#isWoken && this.#mode === 'running') this.#mode = 'idle'
      } catch (error) {
        this.#failed(error)
      }
    }
  }

  /** Does the next thing there is to do. Returns false when there was none. */
  async #step(): Promise<boolean> {
    const { postgres, events, persons } = this.#options
    const mirror = events.mirror.state()
    // The store's opening and the consumer's beginning are both followed by a call of a listener.
    if (mirror === null) return false
    if (mirror.isTendingDue && !this.#isFinishing) {
      await events.mirror.tend()
      return true
    }
    // What copies itself takes no page before it is done, and a stop does not wait for that.
    if (isCopyingItself(mirror)) return false
    if (this.#isPruneDue && mirror.checkpointed !== null) {
      const count = await prune(postgres, mirror.checkpointed, pruneRowsMax)
      this.#isPruneDue = count === pruneRowsMax
    }
    const told = persons.state().changes
    const { page, end } = await readNext(postgres, mirror.cursor, pageRowsMax)
    this.#read = end && { end, told }
    if (page !== null) await events.mirror.apply(page)
    return page !== null || this.#isPruneDue
  }

  #failed(error: unknown): void {
    const detail = isServiceError(error) ? error.detail : String(error)
    if (this.#retries === 0) this.#options.log.warn({}, `mirror: it goes on later: ${detail}`)
    // The one that the whole server has already is no news.
    this.#reason = isServiceError(error, 'postgres_unavailable') ? null : detail
    if (this.#mode !== 'running') return
    this.#mode = 'idle'
    if (this.#isFinishing) return
    const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** this.#retries++)
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#wake()
    }, waitMs)
    // The server's sockets keep the process alive, not this.
    this.#timer.unref()
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

/** True while it gets its base from the one before. */
function isCopyingItself(mirror: MirrorState | null): boolean {
  const rest = mirror?.cursor?.rest ?? null
  return rest !== null && mirror?.isTendingDue === true
}
