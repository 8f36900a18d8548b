// Exports and people's queries give way to ingestion. What they work leaves a debt of time to rest, one for all of them
// together, which time pays, and processors that have nothing to do. It holds only while events come in: else they go
// on as fast as they can.
//
// With work w and idle processors i, as shares of one processor, and n of them, they settle where
// owedPerMs × w = n + idlePays × i: a twentieth of the processors where nothing is idle, and most of what is.

import type { Clock } from '../lib/clock.ts'
import { idleMs, processorCount } from '../processors.ts'

export interface GivingWayOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Whether so many events come in that they need the processors. */
  readonly isIngesting: () => boolean
  /** Whether they may begin to while a read is at work; by default only when they do already. */
  readonly isExpecting?: () => boolean
  /** How long the processors had nothing to do so far, all of them together (ms). */
  readonly idleMs?: () => number
  readonly processors?: number
}

/** A twentieth: ingestion may lose a tenth, and not all that is done for a read is counted as its work. */
const owedPerMs = 20
/** Two thirds of what is idle can be taken, so that some is left to see. */
const idlePays = 40
/** How often to look at the processors, which takes a tenth of a millisecond. */
const lookMs = 200
/** Worth work until the next look. */
const creditMsMax = lookMs * owedPerMs
/** Work is measured by the clock: a thread that had to wait has worked less. */
const owedMsMax = 60_000

export class GivingWay {
  readonly #options: Required<GivingWayOptions>
  #owedMs = 0
  #paidMs: number
  #lookedMs: number
  #idleMs: number

  constructor(options: GivingWayOptions) {
    this.#options = {
      idleMs,
      processors: processorCount(),
      isExpecting: options.isIngesting,
      ...options,
    }
    this.#paidMs = options.clock.monotonicMs()
    this.#lookedMs = this.#paidMs
    this.#idleMs = this.#options.idleMs()
  }

  /** Whether there may be anybody to give way to. */
  get isWanted(): boolean {
    return this.#options.isExpecting()
  }

  /** Takes note of work and says how long to rest before there is any more (ms, whole). */
  restMs(workedMs: number): number {
    const { isIngesting, processors } = this.#options
    this.#pay()
    if (!isIngesting()) this.#owedMs = 0
    else this.#owedMs = Math.min(this.#owedMs + workedMs * owedPerMs, owedMsMax * processors)
    return Math.max(0, Math.floor(this.#owedMs / processors))
  }

  #pay(): void {
    const { clock, idleMs, processors } = this.#options
    const nowMs = clock.monotonicMs()
    const byTime = (nowMs - this.#paidMs) * processors
    this.#paidMs = nowMs
    if (this.#owedMs > 0) this.#owedMs = Math.max(0, this.#owedMs - byTime)
    if (nowMs - this.#lookedMs < lookMs) return
    // Idle time is seen in lumps, and may be taken until the next one.
    const idle = idleMs()
    this.#owedMs = Math.max(-creditMsMax, this.#owedMs - (idle - this.#idleMs) * idlePays)
    this.#lookedMs = nowMs
    this.#idleMs = idle
  }
}
