// Reading one's own writes: whoever has just sent an identity event and asks for flags waits until it is applied, or
// for a moment. Known are the ids of the last few seconds, in a table of fixed size: of two that meet in a place the
// later stays, and the other's reader is as eventual as everybody else.

import type { Position } from '../journal/journal.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { writeBornId } from '../lib/uuid.ts'

/** The persons consumer, as this file needs it. */
export interface Applying {
  state(): { readonly reason: string | null; readonly applied: { readonly realtime: Position } }
  onApplied(listener: () => void): void
}

interface Waiter {
  readonly position: Position
  readonly end: () => void
}

const placeCount = 16_384
/** A consumer that is further behind than this is not waited for. */
const recentMs = 5_000
const waitMsMax = 100
const waitersMax = 256

export class RecentIdentities {
  readonly #persons: Applying
  readonly #clock: Clock
  readonly #waitMs: number
  /** By place: two words of the born id, then where the event ends and when it came. */
  readonly #words = new Uint32Array(placeCount * 2)
  readonly #ends = new Float64Array(placeCount)
  readonly #times = new Float64Array(placeCount)
  readonly #waiters = new Set<Waiter>()
  readonly #bornId = new Uint8Array(16)

  /** Nobody waits longer than `waitMs`. */
  constructor(persons: Applying, clock: Clock, waitMs = waitMsMax) {
    this.#persons = persons
    this.#clock = clock
    this.#waitMs = waitMs
    this.#times.fill(Number.NEGATIVE_INFINITY)
    persons.onApplied(() => this.#settle())
  }

  /** Remembers identity events that are on disk: 16 bytes of born id each, all before `end` of the realtime lane. */
  note(bornIds: Uint8Array, end: Position): void {
    assert(bornIds.length % 16 === 0, 'born ids have 16 bytes')
    const nowMs = this.#clock.monotonicMs()
    for (let at = 0; at < bornIds.length; at += 16) {
      const place = placeOf(bornIds, at)
      this.#words[place * 2] = wordAt(bornIds, at)
      this.#words[place * 2 + 1] = wordAt(bornIds, at + 4)
      this.#ends[place] = end
      this.#times[place] = nowMs
    }
  }

  /** Whether there is nothing to wait for. */
  isApplied(projectId: number, distinctId: string): boolean {
    const position = this.#positionOf(projectId, distinctId)
    return position === null || this.#persons.state().applied.realtime >= position
  }

  /** Resolves when the last identity event of this id is applied, at once when there was none, and soon in any case. */
  async wait(projectId: number, distinctId: string): Promise<void> {
    const position = this.#positionOf(projectId, distinctId)
    if (position === null || this.#waiters.size >= waitersMax) return
    const { reason, applied } = this.#persons.state()
    if (reason !== null || applied.realtime >= position) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        resolve()
      }
      const waiter: Waiter = { position, end }
      const timer = setTimeout(end, this.#waitMs)
      this.#waiters.add(waiter)
    })
  }

  /** Waits for nobody any more. */
  close(): void {
    for (const waiter of [...this.#waiters]) waiter.end()
  }

  #positionOf(projectId: number, distinctId: string): Position | null {
    const bornId = this.#bornId
    const bytes = Buffer.from(distinctId)
    writeBornId(projectId, bytes, 0, bytes.length, bornId, 0)
    const place = placeOf(bornId, 0)
    const isKnown =
      this.#words[place * 2] === wordAt(bornId, 0) && this.#words[place * 2 + 1] === wordAt(bornId, 4)
    if (!isKnown || this.#clock.monotonicMs() - this.#times[place]! > recentMs) return null
    return this.#ends[place]! as Position // put there by `note`
  }

  #settle(): void {
    if (this.#waiters.size === 0) return
    const { applied } = this.#persons.state()
    for (const waiter of [...this.#waiters]) if (applied.realtime >= waiter.position) waiter.end()
  }
}

function placeOf(bytes: Uint8Array, at: number): number {
  return wordAt(bytes, at + 8) % placeCount
}

function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}
