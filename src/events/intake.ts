// Whether events come in, as the events thread sees it: by what it loads.

import type { Clock } from '../lib/clock.ts'

/** Steps follow each other within 5 s at the latest, and persons may need as long after the last one. */
const lastsMs = 5_000
const expectedMs = 60_000
/** Of journal, waiting when a step begins: a thousand events a second. Less takes a few percent of a processor. */
const largeBytesMin = 256 * 1024

export class Intake {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #isLoading = false
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** True while a large step is on its way, and for a moment after it. */
  get isLarge(): boolean {
    return this.#isLoading || this.#clock.monotonicMs() < this.#lastMs + lastsMs
  }

  /** True until a minute later: there may be another one soon. */
  get isExpected(): boolean {
    return this.#isLoading || this.#clock.monotonicMs() < this.#lastMs + expectedMs
  }

  /** Runs a step that `bytes` of the journal wait for. */
  async during<T>(bytes: number, step: () => Promise<T>): Promise<T> {
    this.#isLoading = bytes >= largeBytesMin
    try {
      return await step()
    } finally {
      if (this.#isLoading) this.#lastMs = this.#clock.monotonicMs()
      this.#isLoading = false
    }
  }
}
