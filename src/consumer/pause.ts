// The pause between two steps of a consumer. When little waits, steps are a while apart: a transaction for each of a
// thousand small requests a second would cost more than the rows themselves, and none of them need be seen sooner. A
// step has a price of its own, whatever it applies, so the longer it took the longer is the pause: a consumer that has
// less of the processor takes fewer and larger steps.
// Whoever waits for a position is not made to wait (`hurry`); after a failure everybody is.
//
// Where a whole step's worth costs less than a part of it, a part waits for the rest when that is coming soon. Once
// nothing has come for a while the part goes, even within the pause: the end of a burst of large batches or bodies
// waited up to 0.5 s longer, with nothing else to do. Three bodies of 15,000 events, from the last answer until all
// could be queried, on a crowded machine, medians of six: 1,342 -> 997 ms.

import type { Clock } from '../lib/clock.ts'
import { Backoff, type BackoffLimits } from './backoff.ts'

export interface PauseLimits extends BackoffLimits {
  /** From the begin of a step to that of the next, at least. */
  readonly pauseMs: number
  /** The same after a step that took long. */
  readonly pauseMsMax: number
  /** With more waiting there is no pause, unless the caller says what a whole step is. */
  readonly waitingBytesMax: number
  /** From the begin of a step, how long at most the next one waits for a whole step's worth. */
  readonly gatherMsMax: number
}

/** A part waits no longer for a rest of which nothing comes. Large batches at full rate are 30 to 60 ms apart. */
const stillMsMax = 150
/** From begin to begin, in times of what a step took: a consumer rests three quarters of the time. */
const pauseToStep = 4

export class Pause {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #limits: PauseLimits
  readonly #backoff: Backoff
  #isHurried = false
  #isOver = false
  #beganMs = 0
  #untilMs = 0
  #grewMs = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>, limits: PauseLimits) {
    this.#clock = clock
    this.#limits = limits
    this.#backoff = new Backoff(clock, limits)
  }

  get isFailing(): boolean {
    return this.#backoff.isFailing
  }

  /** Somebody waits for what is committed: no pause before the next step. */
  hurry(): void {
    this.#isHurried = true
  }

  /** More waits than before, or is about to. */
  grew(): void {
    this.#grewMs = this.#clock.monotonicMs()
  }

  /** No pause any more, but after failures. */
  end(): void {
    this.#isOver = true
  }

  /** A step begins. */
  began(): void {
    this.#isHurried = false
    this.#beganMs = this.#clock.monotonicMs()
  }

  /** The step has applied something. */
  applied(): void {
    this.#backoff.succeeded()
    const { pauseMs, pauseMsMax } = this.#limits
    const stepMs = this.#clock.monotonicMs() - this.#beganMs
    this.#untilMs = this.#beganMs + Math.min(Math.max(pauseMs, stepMs * pauseToStep), pauseMsMax)
  }

  /** The step failed, and may not the next time. */
  failed(): void {
    this.#backoff.failed()
  }

  /**
   * Milliseconds until the next step, with so many bytes of journal waiting; 0 or less: now. With `wholeBytes` waiting
   * there is no pause; with less, one for the rest of them if they go on coming as fast as since the last step began,
   * to be looked at again when more waits. It ends when nothing has come for a while: `grew` says what comes.
   */
  leftMs(waitingBytes: number, wholeBytes = 0): number {
    if (this.isFailing) return this.#backoff.leftMs()
    const isMuch = wholeBytes > 0 ? waitingBytes >= wholeBytes : waitingBytes > this.#limits.waitingBytesMax
    if (this.#isHurried || this.#isOver || isMuch) return 0
    const nowMs = this.#clock.monotonicMs()
    const pauseMs = this.#untilMs - nowMs
    if (wholeBytes === 0) return pauseMs
    const stillMs = Math.max(0, this.#grewMs + stillMsMax - nowMs)
    if (pauseMs > 0) return Math.min(pauseMs, stillMs)
    const sinceMs = nowMs - this.#beganMs
    const wholeMs = (sinceMs * wholeBytes) / waitingBytes
    if (wholeMs > this.#limits.gatherMsMax) return 0
    return Math.max(0, Math.min(wholeMs - sinceMs, stillMs))
  }
}
