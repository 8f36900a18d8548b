// Finds spikes: more realtime events of one distinct_id than a source that is well behaves. Nothing is refused; the
// project gets an ingestion warning, the operator a number.
//
// A token bucket for each (project, distinct_id), keyed by 64 bits of the born id, which the batch holds already. It
// is counted here because this thread alone sees every realtime event once, in order, with retries marked, and writes
// its warnings in the transaction that moves the offset: a replay counts none twice. Time is when the events were
// received, so a backlog gives the same warnings whenever it is applied.
//
// A bucket that nothing was taken from for long is full, which is what an absent one stands for: the table may be of
// any size and forget. It has sets of four; a new key takes the place of the fullest bucket of its set, so a spike is
// the last to be forgotten. After an undone step and a restart all buckets are full: a spike may be missed, none is
// made up.
//
// CPU of an event when so many ids come in turn: 1,000 ids 8 ns, 50,000 24 ns, 500,000, which push each other out,
// 43 ns (Node 20.20.2, 2 busy cores).

import type { EventBatch } from '../capture/event-batch.ts'
import { textValue } from '../capture/text-column.ts'
import type { Warning } from '../identity/changes.ts'
import { cutSample } from '../identity/tally.ts'

/** Events that may come at once, or a second's worth where that is more. */
const burstEvents = 1_000

/** 1.5 MiB: 65,536 ids at a time. A bucket of the default rate is full again, and needs no place, after 10 s. */
const setCount = 1 << 14
const setSize = 4

export class Spikes {
  readonly #eventsPerSecond: number
  readonly #tokensPerMs: number
  readonly #tokensMax: number
  readonly #keys = new Uint32Array(setCount * setSize * 2)
  readonly #tokens = new Float64Array(setCount * setSize)
  /** When `tokens` was true, epoch ms; 0 in a place that was never taken, which reads as a full bucket. */
  readonly #times = new Float64Array(setCount * setSize)
  /** By project; empty but for spikes. */
  readonly #warnings = new Map<number, Warning>()

  /** 0 looks for none. */
  constructor(eventsPerSecond: number) {
    this.#eventsPerSecond = eventsPerSecond
    this.#tokensPerMs = eventsPerSecond / 1000
    this.#tokensMax = Math.max(burstEvents, eventsPerSecond)
  }

  /** Counts events [from, to) of a batch; `duplicates` as for readOperations. Historical batches are passed over. */
  count(batch: EventBatch, duplicates: Uint8Array | null, from: number, to: number): void {
    const { historical, receivedAtMs } = batch.header
    if (historical || this.#tokensPerMs === 0) return
    // A batch starts at a multiple of 8, its ids do too.
    const words = new Uint32Array(batch.bornIds.buffer, batch.bornIds.byteOffset, to * 4)
    let count = 0
    let last = 0
    for (let index = from; index < to; index++) {
      if (duplicates !== null && (duplicates[index >> 3]! & (1 << (index & 7))) !== 0) continue
      const place = this.#place(words, index * 4, receivedAtMs)
      const tokens = this.#tokensAt(place, receivedAtMs)
      this.#times[place] = Math.max(this.#times[place]!, receivedAtMs)
      this.#tokens[place] = tokens < 1 ? tokens : tokens - 1
      if (tokens >= 1) continue
      count++
      last = index
    }
    if (count > 0) this.#warn(batch, last, count)
  }

  /** The warnings since the last call, one for each project. */
  take(): Warning[] {
    const warnings = [...this.#warnings.values()]
    this.#warnings.clear()
    return warnings
  }

  /** Makes every bucket full. */
  clear(): void {
    this.#warnings.clear()
    this.#tokens.fill(0)
    this.#times.fill(0)
  }

  /** The bucket of the id whose four words begin at `at`; another's is given up for it if it has none. */
  #place(words: Uint32Array, at: number, nowMs: number): number {
    const keys = this.#keys
    // The other two words hold the version and the variant.
    const high = words[at]!
    const low = words[at + 3]!
    const first = ((high ^ low) & (setCount - 1)) * setSize
    let fullest = first
    let tokensMost = -1
    for (let place = first; place < first + setSize; place++) {
      if (keys[place * 2] === high && keys[place * 2 + 1] === low) return place
    }
    for (let place = first; place < first + setSize; place++) {
      const tokens = this.#tokensAt(place, nowMs)
      if (tokens <= tokensMost) continue
      tokensMost = tokens
      fullest = place
    }
    keys[fullest * 2] = high
    keys[fullest * 2 + 1] = low
    this.#times[fullest] = 0
    return fullest
  }

  #tokensAt(place: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#times[place]!)
    return Math.min(this.#tokensMax, this.#tokens[place]! + elapsedMs * this.#tokensPerMs)
  }

  #warn({ header, text }: EventBatch, index: number, count: number): void {
    const { projectId, receivedAtMs } = header
    const before = this.#warnings.get(projectId)
    this.#warnings.set(projectId, {
      projectId,
      reason: 'spike',
      count: (before?.count ?? 0) + count,
      firstSeenMs: Math.min(before?.firstSeenMs ?? receivedAtMs, receivedAtMs),
      lastSeenMs: Math.max(before?.lastSeenMs ?? receivedAtMs, receivedAtMs),
      sample: {
        event: cutSample(textValue(text.event, index)),
        distinctId: cutSample(textValue(text.distinctId, index)),
        detail: `more than ${this.#eventsPerSecond} events a second of one distinct_id`,
      },
    })
  }
}
