// Decides when the persons thread takes its next step. Lives on the main thread, runs one step at a time.
//
//   idle      everything committed is applied, or a pause has not passed; a timer or `wake` ends it
//   running   steps follow each other until nothing waits
//   halted    a step said that consuming cannot go on, or the thread was lost; for good
//
// When little waits, steps are at least `pauseMs` apart: a transaction for each of a thousand small requests a second
// would cost more than the rows themselves. Whoever waits for a position is not made to wait (`hurry`). After a
// failure the pause grows and varies, so that many servers do not come back in step.

import { setTimeout as delay } from 'node:timers/promises'
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

const pauseMs = 100
/** With more waiting there is no pause. */
const pauseBytesMax = 4 * 1024 * 1024
const retryMsMin = 100
/** Short: persons are late by as much when Postgres is back, and an attempt costs it one connection. */
const retryMsMax = 3_000

export class Pump {
  readonly #pumped: Pumped
  readonly #clock: Clock
  #mode: 'idle' | 'running' | 'halted' = 'idle'
  #running: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #isHurried = false
  #isFinishing = false
  #notBeforeMs = 0
  #retries = 0

  constructor(pumped: Pumped, clock: Clock) {
    this.#pumped = pumped
    this.#clock = clock
  }

  /** There may be something to apply. */
  wake(): void {
    if (this.#mode !== 'idle') return
    this.#mode = 'running'
    this.#running = this.#run().catch((error: unknown) => {
      this.halt()
      this.#pumped.failed(error)
    })
  }

  /** Somebody waits for what is committed: apply it without a pause. */
  hurry(): void {
    this.#isHurried = true
    this.wake()
  }

  /** Applies what waits, as far as that goes without failing, and halts. Returns false when `msMax` was too short. */
  async finish(msMax: number): Promise<boolean> {
    this.#isFinishing = true
    if (this.#retries > 0) this.halt()
    this.wake()
    const tooLate = new AbortController()
    const isDone = await Promise.race([
      this.#running.then(() => true),
      delay(msMax, false, { signal: tooLate.signal }),
    ])
    tooLate.abort()
    this.halt()
    return isDone
  }

  /** Takes no further step. */
  halt(): void {
    this.#mode = 'halted'
    this.#clearTimer()
  }

  async #run(): Promise<void> {
    this.#clearTimer()
    while (this.#mode === 'running') {
      const waitingBytes = this.#pumped.waitingBytes()
      const leftMs = this.#pauseLeftMs(waitingBytes)
      if (waitingBytes === 0) this.#mode = 'idle'
      else if (leftMs > 0) this.#sleep(leftMs)
      else await this.#step()
    }
  }

  async #step(): Promise<void> {
    this.#isHurried = false
    const startMs = this.#clock.monotonicMs()
    const next = await this.#pumped.step()
    if (next === 'again') {
      this.#retries = 0
      this.#notBeforeMs = startMs + pauseMs
    } else if (next === 'halt' || this.#isFinishing) {
      this.halt()
    } else {
      const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** this.#retries++)
      this.#notBeforeMs = this.#clock.monotonicMs() + waitMs * (0.5 + Math.random() / 2)
    }
  }

  /** Goes idle until the pause has passed. */
  #sleep(leftMs: number): void {
    this.#mode = 'idle'
    this.#timer = setTimeout(() => this.wake(), Math.ceil(leftMs))
    // The server's sockets keep the process alive, not this.
    this.#timer.unref()
  }

  #pauseLeftMs(waitingBytes: number): number {
    const isFailing = this.#retries > 0
    if (!isFailing && (this.#isHurried || this.#isFinishing || waitingBytes > pauseBytesMax)) return 0
    return this.#notBeforeMs - this.#clock.monotonicMs()
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
