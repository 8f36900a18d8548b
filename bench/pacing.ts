// When requests are sent.
//
// A closed loop sends the next request when an answer has come: it finds out how much a server takes. An open loop
// sends each at its own moment, whatever became of those before, and measures from that moment: a server that stalls
// is charged with everybody who would have waited.

import { machineMs } from './clock.ts'

export interface Due {
  readonly number: number
  /** When it should leave. */
  readonly dueMs: number
}

export interface Pacing {
  /** The next request that is due; null when there is none, now or for good. Calls `wake` once there may be one. */
  next(wake: () => void): Due | null
  /** Hears that a request was answered 503; true when it will be due again. */
  overloaded(number: number, wake: () => void): boolean
}

const overloadPauseMs = 20
/** Timers are late by up to a millisecond; nearer moments are waited for awake. */
const awakeMs = 2

/** Requests from `first` on, as fast as answers come. What is overloaded is sent again. */
export class ClosedPacing implements Pacing {
  #next: number
  readonly #end: number
  readonly #again: number[] = []

  constructor(first: number, count: number) {
    this.#next = first
    this.#end = first + count
  }

  next(): Due | null {
    const number = this.#again.pop() ?? (this.#next < this.#end ? this.#next++ : null)
    return number === null ? null : { number, dueMs: machineMs() }
  }

  overloaded(number: number, wake: () => void): boolean {
    setTimeout(() => {
      this.#again.push(number)
      wake()
    }, overloadPauseMs)
    return true
  }
}

/** The same at an even rate. */
export class OpenPacing implements Pacing {
  readonly #first: number
  readonly #count: number
  readonly #requestsPerSecond: number
  #startMs: number | null = null
  #sent = 0
  #isWaiting = false

  constructor(first: number, count: number, requestsPerSecond: number) {
    this.#first = first
    this.#count = count
    this.#requestsPerSecond = requestsPerSecond
  }

  next(wake: () => void): Due | null {
    this.#startMs ??= machineMs()
    if (this.#sent === this.#count) return null
    const dueMs = this.#startMs + (this.#sent * 1000) / this.#requestsPerSecond
    const waitMs = dueMs - machineMs()
    if (waitMs <= 0) return { number: this.#first + this.#sent++, dueMs }
    this.#wait(waitMs, wake)
    return null
  }

  overloaded(): boolean {
    return false
  }

  #wait(waitMs: number, wake: () => void): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const resume = (): void => {
      this.#isWaiting = false
      wake()
    }
    if (waitMs > awakeMs) setTimeout(resume, waitMs - awakeMs)
    else setImmediate(resume)
  }
}
