// Deliveries give way to ingestion as reads do (src/events/giving-way.ts): what they work on this thread and beside it
// is rested for.

import { setTimeout as delay } from 'node:timers/promises'
import type { GivingWay } from '../events/giving-way.ts'
import type { Clock } from '../lib/clock.ts'
import type { GiveWay } from './delivery.ts'

/**
 * What a delivery works for a mebibyte of its file, at most: as HTTP, where rows are taken apart and packed. Beyond it
 * a destination is slow, and that takes no processor.
 */
const msPerMebibyteMax = 10
/** How often to look again whether rest is still wanted. */
const lookMs = 500

/** Counts what one delivery after the other works. */
export class DeliveryRest {
  readonly #givingWay: Pick<GivingWay, 'restMs'>
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #sleep: typeof sleep
  #sinceMs = 0
  #leftBytes = 0

  constructor(
    givingWay: Pick<GivingWay, 'restMs'>,
    clock: Pick<Clock, 'monotonicMs'>,
    sleepWith: typeof sleep = sleep,
  ) {
    this.#givingWay = givingWay
    this.#clock = clock
    this.#sleep = sleepWith
  }

  /** A delivery of `bytes` begins. What it returns is for whoever has something to do in pieces of them. */
  begin(bytes: number, signal: AbortSignal): GiveWay {
    this.#sinceMs = this.#clock.monotonicMs()
    this.#leftBytes = bytes
    return (piece) => this.#after(piece, signal)
  }

  /** Rests for what was left of the delivery, if there was one. Errors: the reason of `signal`. */
  async end(signal: AbortSignal): Promise<void> {
    if (this.#leftBytes > 0) await this.#after(this.#leftBytes, signal)
  }

  /** Rests for the work since the last call or `begin`, on `bytes` of a file. */
  async #after(bytes: number, signal: AbortSignal): Promise<void> {
    this.#leftBytes -= bytes
    const tookMs = this.#clock.monotonicMs() - this.#sinceMs
    const workedMs = Math.min(tookMs, (bytes / 1024 / 1024) * msPerMebibyteMax)
    for (let ms = this.#givingWay.restMs(workedMs); ms > 0; ms = this.#givingWay.restMs(0)) {
      await this.#sleep(Math.min(ms, lookMs), signal)
      signal.throwIfAborted()
    }
    this.#sinceMs = this.#clock.monotonicMs()
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted())
}
