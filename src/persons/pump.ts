// Decides when the persons thread takes its next step. Lives on the main thread, runs one step at a time: while
// something waits, with the pauses of src/consumer/pause.ts between.

import { setTimeout as delay } from 'node:timers/promises'
import { Loop } from '../consumer/loop.ts'
import { Pause } from '../consumer/pause.ts'
import type { Clock } from '../lib/clock.ts'

/** again: go on; later: after a pause that grows; halt: never. */
export type Next = 'again' | 'later' | 'halt'

/** What the pump drives. */
export interface Pumped {
  /** Bytes of journal that are committed and not applied; infinite while it is not known. */
  waitingBytes(): number
  step(): Promise<Next>
  /** A step has thrown; the pump is halted. */
  failed(error: unknown): void
}

const pauses = {
  pauseMs: 100,
  pauseMsMax: 250,
  /** What one step takes at most (gather.ts): the larger it is, the less of its price there is for an event. */
  waitingBytesMax: 16 * 1024 * 1024,
  gatherMsMax: 0,
  msMin: 100,
  /** Short: persons are late by as much when Postgres is back, and an attempt costs it one connection. */
  msMax: 3_000,
  spread: 0.5,
}

export class Pump {
  readonly #pumped: Pumped
  readonly #pause: Pause
  readonly #loop: Loop
  #isFinishing = false

  constructor(pumped: Pumped, clock: Clock) {
    this.#pumped = pumped
    this.#pause = new Pause(clock, pauses)
    this.#loop = new Loop({
      dueInMs: () => this.#dueInMs(),
      turn: () => this.#step(),
      failed: (error) => pumped.failed(error),
    })
  }

  /** There may be something to apply. */
  wake(): void {
    this.#loop.wake()
  }

  /** Somebody waits for what is committed: apply it without a pause. */
  hurry(): void {
    this.#pause.hurry()
    this.#loop.wake()
  }

  /** Applies what waits, as far as that goes without failing, and halts. Returns false when `msMax` was too short. */
  async finish(msMax: number): Promise<boolean> {
    this.#isFinishing = true
    this.#pause.end()
    if (this.#pause.isFailing) this.halt()
    this.#loop.wake()
    const tooLate = new AbortController()
    const isDone = await Promise.race([
      this.#loop.rest().then(() => true),
      delay(msMax, false, { signal: tooLate.signal }),
    ])
    tooLate.abort()
    this.halt()
    return isDone
  }

  /** Takes no further step. */
  halt(): void {
    this.#loop.halt()
  }

  #dueInMs(): number {
    const waitingBytes = this.#pumped.waitingBytes()
    return waitingBytes === 0 ? Number.POSITIVE_INFINITY : this.#pause.leftMs(waitingBytes)
  }

  async #step(): Promise<void> {
    this.#pause.began()
    const next = await this.#pumped.step()
    if (next === 'again') this.#pause.applied()
    else if (next === 'halt' || this.#isFinishing) this.halt()
    else this.#pause.failed()
  }
}
