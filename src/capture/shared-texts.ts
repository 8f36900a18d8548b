// Texts of a batch that repeat, each written once: names of events, and the ids of senders who send several. They are
// found again by a table of a fixed size: a newcomer takes the place of whoever had it, who is then written once more.

import { isSameBytes } from '../lib/bytes.ts'
import { sampleKey } from './key-index.ts'
import { TextArena } from './text-arena.ts'
import { putVarint, varintBytesMax } from './varint.ts'

/** For each of both kinds, so that ids do not push out names. */
const slotCount = 512

/** Memory kept between batches. */
const keptBytes = 1024 * 1024

/** Counted over all batches; the table is emptied before it no longer fits into it. */
const numberMax = 2 ** 30

export class SharedTexts {
  /** The texts, one behind the other, and where each of them ends. */
  readonly arena = new TextArena(16 * 1024)
  readonly #ends: number[] = []
  /** The number of the text of each slot since the table was emptied; those from #first on are of this batch. */
  readonly #slots = new Int32Array(slotCount * 2)
  #first = 1

  /** Forgets the texts of the batch before. */
  clear(): void {
    this.#first += this.#ends.length
    if (this.#first > numberMax) {
      this.#slots.fill(0)
      this.#first = 1
    }
    this.#ends.length = 0
    this.arena.clear(keptBytes)
  }

  /** Writes the number of the text bytes[start, end), times `factor`, to `places`, and a new text's length. */
  write(bytes: Uint8Array, start: number, end: number, kind: 0 | 1, factor: 1 | 2, places: TextArena): void {
    const slot = kind * slotCount + (sampleKey(bytes, start, end) & (slotCount - 1))
    const found = this.#slots[slot]! - this.#first
    places.reserve(2 * varintBytesMax)
    if (found >= 0 && this.#isText(found, bytes, start, end)) {
      putVarint(places, found * factor)
      return
    }
    const number = this.#ends.length
    this.#slots[slot] = this.#first + number
    this.arena.reserve(end - start)
    this.arena.append(bytes, start, end)
    this.#ends.push(this.arena.size)
    putVarint(places, number * factor)
    putVarint(places, end - start)
  }

  #isText(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = number === 0 ? 0 : this.#ends[number - 1]!
    const length = end - start
    return this.#ends[number]! - from === length && isSameBytes(this.arena.bytes, from, bytes, start, length)
  }
}
