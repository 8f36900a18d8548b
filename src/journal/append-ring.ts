// Short chains on their way to a lane's thread, in memory that the main thread and that one share.
//
// A message to another thread is put together value by value, wakes that thread's event loop and is taken apart there,
// which costs both more than the kilobyte of a single event that it brings. Here the main thread writes a chain behind
// the others, and the lane copies it out. Only one thread does either, so that two counters are all they need: the one
// says that what stands before it is written, the other that what stood before it is free again. Both count bytes,
// round and round.
//
// Longer chains travel as messages beside the ring, so each entry says how many had been sent before it. An entry:
//
//   i32 bytes of the payload, or `skipped` where the rest up to the end of the ring is left free
//   i32 messages sent before it
//   i32 count of events
//   i32 words of the keys
//   payload, then keys, both at multiples of 8

import { assert } from '../lib/assert.ts'
import { alignTo8 } from '../lib/bytes.ts'
import type { JournalPart } from './journal.ts'

export type Chain = readonly JournalPart[]

/** The memory of a ring that holds `bytes`, a power of two. */
export interface RingMemory {
  readonly counters: SharedArrayBuffer
  readonly entries: SharedArrayBuffer
}

/** A longer part is moved by itself. */
const partBytesMax = 16 * 1024
/** Where each counter stands: in a line of the caches of its own, as only one thread writes it. */
const written = 0
const taken = 16
const headBytes = 16
const skipped = -1

export function createRingMemory(bytes: number): RingMemory {
  return { counters: new SharedArrayBuffer(128), entries: new SharedArrayBuffer(bytes) }
}

interface ShortPart extends JournalPart {
  readonly dedupKeys: Uint32Array<ArrayBuffer>
}

/** One end of the ring: the main thread puts, the lane takes. */
export class AppendRing {
  readonly #counters: Int32Array
  readonly #bytes: Uint8Array
  readonly #words: Int32Array
  readonly #keys: Uint32Array
  readonly #size: number

  constructor({ counters, entries }: RingMemory) {
    this.#size = entries.byteLength
    assert((this.#size & (this.#size - 1)) === 0, 'a ring holds a power of two of bytes')
    this.#counters = new Int32Array(counters)
    this.#bytes = new Uint8Array(entries)
    this.#words = new Int32Array(entries)
    this.#keys = new Uint32Array(entries)
  }

  /**
   * Copies `chain` behind the others, when so many messages were sent before it. Returns false when it is not one short
   * part of events, or finds no room.
   */
  put(chain: Chain, messages: number): boolean {
    if (!isShort(chain)) return false
    const { payload, eventCount, dedupKeys } = chain[0]
    const size = headBytes + alignTo8(payload.byteLength) + alignTo8(dedupKeys.byteLength)
    const end = Atomics.load(this.#counters, written)
    const rest = this.#size - this.#offset(end)
    const skip = rest < size ? rest : 0
    const used = (end - Atomics.load(this.#counters, taken)) >>> 0
    if (used + skip + size > this.#size) return false
    if (skip > 0) this.#words[this.#offset(end) / 4] = skipped
    const at = this.#offset(end + skip)
    const head = at / 4
    this.#words[head] = payload.byteLength
    this.#words[head + 1] = messages
    this.#words[head + 2] = eventCount
    this.#words[head + 3] = dedupKeys.length
    this.#bytes.set(payload, at + headBytes)
    this.#keys.set(dedupKeys, (at + headBytes + alignTo8(payload.byteLength)) / 4)
    Atomics.store(this.#counters, written, (end + skip + size) | 0)
    return true
  }

  /** Takes the next chain out; null when there is none, or one that was put when more than `messages` had been sent. */
  take(messages: number): Chain | null {
    let start = Atomics.load(this.#counters, taken)
    if (start === Atomics.load(this.#counters, written)) return null
    // What follows a skipped rest was put at the same time as it.
    if (this.#words[this.#offset(start) / 4] === skipped) start += this.#size - this.#offset(start)
    const at = this.#offset(start)
    const head = at / 4
    if (this.#words[head + 1] !== messages) return null
    const payloadBytes = this.#words[head]!
    const eventCount = this.#words[head + 2]!
    const keyWords = this.#words[head + 3]!
    const keysAt = alignTo8(payloadBytes)
    const size = keysAt + alignTo8(4 * keyWords)
    const own = this.#bytes.slice(at + headBytes, at + headBytes + size)
    Atomics.store(this.#counters, taken, (start + headBytes + size) | 0)
    const payload = own.subarray(0, payloadBytes)
    return [{ kind: 'events', payload, eventCount, dedupKeys: new Uint32Array(own.buffer, keysAt, keyWords) }]
  }

  #offset(counter: number): number {
    return counter & (this.#size - 1)
  }
}

/** Whether the chain is one short part of events. */
function isShort(chain: Chain): chain is readonly [ShortPart] {
  const { payload, dedupKeys } = chain[0]! // a chain has a part
  if (chain.length > 1 || dedupKeys === null) return false
  return alignTo8(payload.byteLength) + alignTo8(dedupKeys.byteLength) <= partBytesMax
}
