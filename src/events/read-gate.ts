// Lets a few reads run at once; the rest wait in a bounded line.

import { ServiceError } from '../errors.ts'

export class ReadGate {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /** Runs `read` when there is a place. Errors: reads_overloaded when the line is full; those of `read`. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMax) {
      this.#running++
    } else {
      if (this.#waiting.length >= this.#waitingMax) {
        const detail = `Too many queries are waiting (${this.#waiting.length}, the limit is ${this.#waitingMax}).`
        throw new ServiceError('reads_overloaded', { detail, retryAfterSeconds: 5 })
      }
      // Whoever leaves hands over the place, so that nobody slips in between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    try {
      return await read()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
