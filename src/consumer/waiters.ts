// Those who wait until a position of the journal can be read.

import type { Lane, Position } from '../journal/journal.ts'
import type { Offsets } from './offset.ts'

interface Waiter {
  readonly lane: Lane
  readonly position: Position
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export class Waiters {
  #waiting: Waiter[] = []

  get count(): number {
    return this.#waiting.length
  }

  /** Resolves when `settle` is told of an offset at or behind `position`. */
  wait(lane: Lane, position: Position): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ lane, position, resolve, reject })
    })
  }

  /** Lets go of everyone whose position is reached. */
  settle(offsets: Offsets): void {
    const isReached = ({ lane, position }: Waiter) => offsets[lane].position >= position
    const reached = this.#waiting.filter(isReached)
    this.#waiting = this.#waiting.filter((waiter) => !isReached(waiter))
    for (const waiter of reached) waiter.resolve()
  }

  /** Turns everyone away. */
  reject(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const waiter of waiting) waiter.reject(error)
  }
}
