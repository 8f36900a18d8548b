// Exports give way to ingestion. A chunk takes a second of a processor or so, and where processors have nothing to
// spare that second is taken from whatever else wants it. So every chunk leaves a debt of time in which no other may
// begin, for all runs together. It holds only while events come in and processors are busy: else exports go on as fast
// as they can.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'

export interface GivingWayOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Bytes of events that have come in so far. */
  readonly ingestedBytes: () => number
  /** How long the processors had nothing to do so far, all of them together (ms). */
  readonly idleMs?: () => number
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Chunks then have a sixteenth of the time: what ingestion may lose is a tenth. */
const debtOfChunk = 15
/** However long a chunk took: a destination that is slow takes no processor. */
const debtMsMax = 60_000
/** How often to look again. Events come in pieces of a megabyte and more. */
const lookMs = 500
/** About a thousand events a second. Less takes a few percent of one processor, and is not slowed. */
const bytesPerSecondMin = 1024 * 1024
/** Idle processors, of any number: a load that takes whatever there is leaves less. */
const spareMin = 0.25

export class GivingWay {
  readonly #options: Required<GivingWayOptions>
  #debtEndMs: number

  constructor(options: GivingWayOptions) {
    this.#options = { idleMs, sleep, ...options }
    this.#debtEndMs = options.clock.monotonicMs()
  }

  /** Runs `chunk` once it may begin. Errors: its own; the reason of `signal`. */
  async run<T>(signal: AbortSignal, chunk: () => Promise<T>): Promise<T> {
    const { clock, ingestedBytes } = this.#options
    await this.#wait(signal)
    const [startedMs, bytes] = [clock.monotonicMs(), ingestedBytes()]
    try {
      return await chunk()
    } finally {
      const nowMs = clock.monotonicMs()
      const tookMs = nowMs - startedMs
      if (isIngesting(ingestedBytes() - bytes, tookMs)) {
        const endMs = Math.max(this.#debtEndMs, nowMs) + tookMs * debtOfChunk
        this.#debtEndMs = Math.min(endMs, nowMs + debtMsMax)
      }
    }
  }

  /** Waits until the debt is paid, or nobody wants it. */
  async #wait(signal: AbortSignal): Promise<void> {
    const { clock, ingestedBytes, idleMs, sleep } = this.#options
    for (;;) {
      const nowMs = clock.monotonicMs()
      if (nowMs >= this.#debtEndMs) return
      const [bytes, idle] = [ingestedBytes(), idleMs()]
      await sleep(Math.min(lookMs, this.#debtEndMs - nowMs), signal)
      signal.throwIfAborted()
      const tookMs = clock.monotonicMs() - nowMs
      if (isIngesting(ingestedBytes() - bytes, tookMs) && idleMs() - idle < spareMin * tookMs) continue
      this.#debtEndMs = clock.monotonicMs()
      return
    }
  }
}

function isIngesting(bytes: number, tookMs: number): boolean {
  return bytes >= (bytesPerSecondMin * tookMs) / 1000 && bytes > 0
}

/** Of the processors that this process may use. */
function idleMs(): number {
  return cpus().reduce((sum, { times }, index) => sum + (isAllowed(index) ? times.idle : 0), 0)
}

const allowed = readAllowed()

function isAllowed(index: number): boolean {
  return allowed.length === 0 || allowed.some(([first, last]) => index >= first && index <= last)
}

/** Ranges of processors, both ends inclusive; none where the kernel does not say. */
function readAllowed(): readonly (readonly [number, number])[] {
  try {
    const [, list = ''] =
      /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return list.split(',').map((range) => {
      const [first, last = first] = range.split('-').map(Number)
      return [Number(first), Number(last)] as const
    })
  } catch {
    return [] // no such file: all of them
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted())
}
