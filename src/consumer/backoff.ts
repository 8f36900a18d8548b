// How long whoever fails waits: twice as long after each failure, up to a limit, until something succeeds.

import type { Clock } from '../lib/clock.ts'

export interface BackoffLimits {
  readonly msMin: number
  readonly msMax: number
  /** The part of a wait that chance may take away, so that many servers do not come back in step; 0: none. */
  readonly spread: number
}

export class Backoff {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #limits: BackoffLimits
  #failures = 0
  #untilMs = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>, limits: BackoffLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** True from a failure on until something succeeds. */
  get isFailing(): boolean {
    return this.#failures > 0
  }

  failed(): void {
    const { msMin, msMax, spread } = this.#limits
    const waitMs = Math.min(msMax, msMin * 2 ** this.#failures++)
    this.#untilMs = this.#clock.monotonicMs() + waitMs * (1 - spread * Math.random())
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** Milliseconds until it may be tried again; 0 or less: now. */
  leftMs(): number {
    return this.isFailing ? this.#untilMs - this.#clock.monotonicMs() : 0
  }
}
