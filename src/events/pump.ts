// Decides when the events thread loads and when it checkpoints. Lives on the main thread, runs one task at a time:
// steps while something waits, with the pauses of src/consumer/pause.ts between, and checkpoints when one is due.

import { Loop } from '../consumer/loop.ts'
import { Pause } from '../consumer/pause.ts'
import type { Clock } from '../lib/clock.ts'
import type { StepOutcome } from './consumer.ts'
import type { Checkpointed, Stepped } from './messages.ts'

/** What the pump drives; all of it may be called only one at a time. */
export interface Pumped {
  /** Bytes of journal that are committed and not applied. */
  waitingBytes(): number
  /** The journal is writing what is not committed yet. */
  isMoreComing(): boolean
  step(): Promise<Stepped>
  checkpoint(): Promise<Checkpointed>
  /** Takes note of a step. Returns false when no step may follow. */
  stepped(outcome: StepOutcome): boolean
  /** A step or a checkpoint has thrown; the pump is halted. */
  failed(error: unknown): void
}

const MiB = 1024 * 1024

/**
 * A row group is worth waiting for where events come so fast that it is there in time (pace.ts). Rows are then read up
 * to a second after their acknowledgement, as fast as one core takes them; at a lower rate they are not made to wait.
 */
const gatherMsMax = 700
const pauses = {
  pauseMs: 150,
  pauseMsMax: 500,
  waitingBytesMax: 16 * MiB,
  gatherMsMax,
  msMin: 50,
  msMax: 5_000,
  spread: 0,
}

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
  readonly #pause: Pause
  readonly #loop: Loop
  #isFinishing = false
  #walBytes = 0
  /** Not known before the first step, which needs none. */
  #rowGroupBytes = 0
  #appliedBytes = 0
  /** Something may be in no checkpoint yet: at first what the last run left. */
  #isUnsafe = true
  #lastStepMs = 0
  #lastCheckpointMs: number
  #noCheckpointBeforeMs = 0

  constructor(pumped: Pumped, clock: Clock) {
    this.#pumped = pumped
    this.#clock = clock
    this.#pause = new Pause(clock, pauses)
    this.#lastCheckpointMs = clock.monotonicMs()
    this.#loop = new Loop({
      dueInMs: () => Math.min(this.#checkpointDueInMs(), this.#stepDueInMs()),
      turn: () => (this.#checkpointDueInMs() <= 0 ? this.#checkpoint() : this.#step()),
      failed: (error) => pumped.failed(error),
    })
  }

  /** More is committed, and to be loaded. */
  wake(): void {
    this.#pause.grew()
    this.#loop.wake()
  }

  /** Something beside the steps was written; the write-ahead log has so many bytes now. */
  wrote(walBytes: number): void {
    this.#walBytes = walBytes
    this.#isUnsafe = true
    this.#lastStepMs = this.#clock.monotonicMs()
    this.#loop.wake()
  }

  /** Somebody waits for what is committed: load it without a pause. */
  hurry(): void {
    this.#pause.hurry()
    this.#loop.wake()
  }

  /** Loads everything that is committed, then a checkpoint; nothing runs when it resolves. */
  async finish(): Promise<void> {
    this.#isFinishing = true
    this.#pause.end()
    await this.#loop.rest()
    this.#loop.wake()
    await this.#loop.rest()
    if (!this.#loop.isHalted) await this.#checkpoint()
    this.halt()
  }

  /** Ends the pump; what is running runs to its end. */
  halt(): void {
    this.#loop.halt()
  }

  async #step(): Promise<void> {
    this.#pause.began()
    this.#lastStepMs = this.#clock.monotonicMs()
    const { outcome, walBytes, rowGroupBytes } = await this.#pumped.step()
    this.#walBytes = walBytes
    this.#rowGroupBytes = rowGroupBytes
    if (!this.#pumped.stepped(outcome)) return this.halt()
    if (outcome.kind === 'applied') {
      this.#appliedBytes += outcome.bytes
      this.#isUnsafe = true
      this.#pause.applied()
    } else if (outcome.kind === 'retry' && outcome.again === 'later') {
      this.#pause.failed()
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

  /** Milliseconds until a step is due if nothing more comes. A stop does not wait for a store that fails. */
  #stepDueInMs(): number {
    const waitingBytes = this.#pumped.waitingBytes()
    if (waitingBytes === 0) return Number.POSITIVE_INFINITY
    if (this.#pumped.isMoreComing()) this.#pause.grew()
    const leftMs = this.#pause.leftMs(waitingBytes, this.#rowGroupBytes)
    return leftMs > 0 && this.#isFinishing ? Number.POSITIVE_INFINITY : leftMs
  }

  /** Milliseconds until a checkpoint is due if nothing more is loaded. */
  #checkpointDueInMs(): number {
    if (!this.#isUnsafe || this.#isFinishing) return Number.POSITIVE_INFINITY
    const isQuiet = this.#pumped.waitingBytes() === 0
    const isLarge = this.#walBytes >= walBytesMax || this.#appliedBytes >= appliedBytesMax
    const byAgeMs = this.#lastCheckpointMs + checkpointMsMax
    const isWorthQuiet = isQuiet && this.#walBytes >= quietWalBytesMin
    const byQuietMs = isWorthQuiet ? this.#lastStepMs + quietMs : Number.POSITIVE_INFINITY
    const dueMs = isLarge ? 0 : Math.min(byAgeMs, byQuietMs)
    return Math.max(dueMs, this.#noCheckpointBeforeMs) - this.#clock.monotonicMs()
  }
}
