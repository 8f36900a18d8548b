// Decides when the events thread loads and when it checkpoints. Lives on the main thread, runs one task at a time.
//
//   idle      everything committed is applied, or a pause has not passed; a timer or `wake` ends it
//   running   steps and checkpoints follow each other until nothing waits
//   halted    a step said that loading cannot go on, or the store failed; for good
//
// When little waits, steps are at least `pauseMs` apart: a step for each of a thousand small requests a second would
// cost more than the rows themselves, and a row need not be readable sooner than that. Whoever waits for a position
// is not made to wait (`hurry`).

import type { Clock } from '../lib/clock.ts'
import type { StepOutcome } from './consumer.ts'
import type { Checkpointed, Stepped } from './messages.ts'

/** What the pump drives; all of it may be called only one at a time. */
export interface Pumped {
  /** Bytes of journal that are committed and not applied. */
  waitingBytes(): number
  step(): Promise<Stepped>
  checkpoint(): Promise<Checkpointed>
  /** Takes note of a step. Returns false when no step may follow. */
  stepped(outcome: StepOutcome): boolean
  /** A step or a checkpoint has thrown; the pump is halted. */
  failed(error: unknown): void
}

const pauseMs = 150
/** With more waiting there is no pause. */
const pauseBytesMax = 16 * 1024 * 1024
const retryMsMin = 50
const retryMsMax = 5_000

const MiB = 1024 * 1024
/** Bounds what DuckDB replays at the next start (about 50 MB/s). */
const walBytesMax = 128 * MiB
/** Bounds the journal that must be kept: rows that bypass the write-ahead log do not show in its size. */
const appliedBytesMax = 512 * MiB
const checkpointMsMax = 5 * 60_000
/** A quiet moment is used when there is something to gain. */
const quietMs = 5_000
const quietWalBytesMin = 16 * MiB
/** A checkpoint that did not happen is tried again after this. */
const checkpointRetryMs = 5_000

export class Pump {
  readonly #pumped: Pumped
  readonly #clock: Clock
  #mode: 'idle' | 'running' | 'halted' = 'idle'
  #running: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #isHurried = false
  #isSleepless = false
  #notBeforeMs = 0
  #retries = 0
  #walBytes = 0
  #appliedBytes = 0
  /** Something may be in no checkpoint yet: at first what the last run left. */
  #isUnsafe = true
  #lastStepMs = 0
  #lastCheckpointMs: number
  #noCheckpointBeforeMs = 0

  constructor(pumped: Pumped, clock: Clock) {
    this.#pumped = pumped
    this.#clock = clock
    this.#lastCheckpointMs = clock.monotonicMs()
  }

  /** There may be something to load. */
  wake(): void {
    if (this.#mode !== 'idle') return
    this.#mode = 'running'
    this.#running = this.#run().catch((error: unknown) => {
      this.halt()
      this.#pumped.failed(error)
    })
  }

  /** Something beside the steps was written; the write-ahead log has so many bytes now. */
  wrote(walBytes: number): void {
    this.#walBytes = walBytes
    this.#isUnsafe = true
    this.#lastStepMs = this.#clock.monotonicMs()
    this.wake()
  }

  /** Somebody waits for what is committed: load it without a pause. */
  hurry(): void {
    this.#isHurried = true
    this.wake()
  }

  /** Loads everything that is committed, then a checkpoint; nothing runs when it resolves. */
  async finish(): Promise<void> {
    this.#isSleepless = true
    await this.#running
    this.wake()
    await this.#running
    if (this.#mode !== 'halted') await this.#checkpoint()
    this.halt()
  }

  /** Ends the pump; what is running runs to its end. */
  halt(): void {
    this.#mode = 'halted'
    this.#clearTimer()
  }

  async #run(): Promise<void> {
    this.#clearTimer()
    while (this.#mode === 'running') {
      const waitingBytes = this.#pumped.waitingBytes()
      const isCheckpointDue = this.#checkpointDueInMs(waitingBytes === 0) <= 0
      if (isCheckpointDue) {
        await this.#checkpoint()
      } else if (waitingBytes === 0 || this.#pauseLeftMs(waitingBytes) > 0) {
        this.#sleep(waitingBytes)
      } else {
        await this.#step()
      }
    }
  }

  async #step(): Promise<void> {
    this.#isHurried = false
    this.#lastStepMs = this.#clock.monotonicMs()
    const { outcome, walBytes } = await this.#pumped.step()
    this.#walBytes = walBytes
    if (!this.#pumped.stepped(outcome)) return this.halt()
    if (outcome.kind === 'applied') {
      this.#retries = 0
      this.#appliedBytes += outcome.bytes
      this.#isUnsafe = true
      this.#notBeforeMs = this.#lastStepMs + pauseMs
    } else if (outcome.kind === 'retry' && outcome.again === 'later') {
      const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** this.#retries++)
      this.#notBeforeMs = this.#clock.monotonicMs() + waitMs
    }
  }

  async #checkpoint(): Promise<void> {
    const { offsets, walBytes } = await this.#pumped.checkpoint()
    const nowMs = this.#clock.monotonicMs()
    this.#walBytes = walBytes
    if (offsets === null) {
      this.#noCheckpointBeforeMs = nowMs + checkpointRetryMs
      return
    }
    this.#appliedBytes = 0
    this.#isUnsafe = false
    this.#lastCheckpointMs = nowMs
  }

  /** Goes idle until the next thing is due. */
  #sleep(waitingBytes: number): void {
    this.#mode = 'idle'
    const isEmpty = waitingBytes === 0
    const dueMs = Math.min(
      this.#checkpointDueInMs(isEmpty),
      isEmpty ? Number.POSITIVE_INFINITY : this.#pauseLeftMs(waitingBytes),
    )
    if (dueMs === Number.POSITIVE_INFINITY || this.#isSleepless) return
    this.#timer = setTimeout(() => this.wake(), Math.ceil(dueMs))
    // The server's sockets keep the process alive, not this.
    this.#timer.unref()
  }

  #pauseLeftMs(waitingBytes: number): number {
    const isFailing = this.#retries > 0
    if (!isFailing && (this.#isHurried || this.#isSleepless || waitingBytes > pauseBytesMax)) return 0
    return this.#notBeforeMs - this.#clock.monotonicMs()
  }

  /** Milliseconds until a checkpoint is due if nothing more is loaded. */
  #checkpointDueInMs(isQuiet: boolean): number {
    if (!this.#isUnsafe || this.#isSleepless) return Number.POSITIVE_INFINITY
    const isLarge = this.#walBytes >= walBytesMax || this.#appliedBytes >= appliedBytesMax
    const byAgeMs = this.#lastCheckpointMs + checkpointMsMax
    const isWorthQuiet = isQuiet && this.#walBytes >= quietWalBytesMin
    const byQuietMs = isWorthQuiet ? this.#lastStepMs + quietMs : Number.POSITIVE_INFINITY
    const dueMs = isLarge ? 0 : Math.min(byAgeMs, byQuietMs)
    return Math.max(dueMs, this.#noCheckpointBeforeMs) - this.#clock.monotonicMs()
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
