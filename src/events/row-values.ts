// Values as DuckDB holds them in a vector, little endian, written by the column into plain memory:
//
//   moment, 64-bit integer    two words, the lower one first
//   id                        its 16 bytes read as one number, lowest word first, the highest bit turned over, so that
//                             ids are ordered as numbers with a sign
//   text of at most 12 bytes  its length in a word, then its bytes, then zeros: 16 bytes, a slot
//   any longer text           DuckDB's to write: its slot holds an address

import type { TextColumn } from '../capture/event-batch.ts'

/** A longer text does not fit its slot. */
export const slotTextBytesMax = 12
/** Of a slot, in words. */
export const slotWords = 4

const wordRange = 2 ** 32

/** Writes integers of 64 bits, given as doubles that hold them exactly; `words` from row `row` on. */
export function writeIntegers(words: Uint32Array, row: number, values: Float64Array): void {
  let at = row * 2
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    const high = Math.floor(value / wordRange)
    words[at++] = value - high * wordRange
    words[at++] = high
  }
}

/** Writes one integer of 64 bits into `count` rows. */
export function repeatInteger(words: Uint32Array, row: number, value: number, count: number): void {
  const high = Math.floor(value / wordRange)
  const low = value - high * wordRange
  const end = (row + count) * 2
  for (let at = row * 2; at < end; ) {
    words[at++] = low
    words[at++] = high
  }
}

/** Writes ids of 16 bytes each. */
export function writeIds(words: Uint32Array, row: number, ids: Uint8Array): void {
  const view = new DataView(ids.buffer, ids.byteOffset, ids.byteLength)
  let at = row * 4
  for (let start = 0; start < ids.length; start += 16) {
    words[at++] = view.getUint32(start + 12)
    words[at++] = view.getUint32(start + 8)
    words[at++] = view.getUint32(start + 4)
    words[at++] = view.getUint32(start) ^ 0x80000000
  }
}

/**
 * Writes the slots of the values `from` to `to`, exclusive, and leaves those of longer texts empty. Returns how many
 * are longer.
 */
export function writeSlots(
  words: Uint32Array,
  row: number,
  column: TextColumn,
  from: number,
  to: number,
): number {
  const { bytes, spans } = column
  const slots = new Uint8Array(words.buffer)
  words.fill(0, row * slotWords, (row + to - from) * slotWords)
  let longer = 0
  for (let i = from, at = row * slotWords; i < to; i++, at += slotWords) {
    const start = spans[i * 2]!
    const end = spans[i * 2 + 1]!
    const size = end - start
    if (size > slotTextBytesMax) {
      longer++
    } else {
      words[at] = size
      for (let source = start, target = at * 4 + 4; source < end; ) slots[target++] = bytes[source++]!
    }
  }
  return longer
}
