// Values as DuckDB holds them in a vector, little endian, written by the column into plain memory:
//
//   moment, 64-bit integer    two words, the lower one first
//   id                        its 16 bytes read as one number, lowest word first, the highest bit turned over, so that
//                             ids are ordered as numbers with a sign
//   text of at most 12 bytes  its length in a word, then its bytes, then zeros: 16 bytes, a slot
//   any longer text           its length in a word, its first four bytes, and the address of DuckDB's copy of it

import { isUtf8 } from 'node:buffer'
import type { TextColumn } from '../capture/text-column.ts'

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

/** A stretch of a batch, and the number of DuckDB's copy of it. */
export interface Copied {
  readonly start: number
  readonly end: number
  readonly number: number
}

/** The least stretch that holds some texts, `end` exclusive, and how many bytes the texts have together. */
export interface Stretch {
  readonly start: number
  readonly end: number
  readonly bytes: number
}

/**
 * The stretch of the values `from` to `to`, exclusive, that do not fit their slots, but for those that are in `copied`;
 * without bytes when there are none.
 */
export function stretchOf(column: TextColumn, from: number, to: number, copied: Copied): Stretch {
  const { spans } = column
  let first = Number.MAX_SAFE_INTEGER
  let last = 0
  let bytes = 0
  for (let i = from, cell = column.first + from * 2; i < to; i++, cell += 2) {
    const start = spans[cell]!
    const end = spans[cell + 1]!
    if (end - start <= slotTextBytesMax || (start >= copied.start && end <= copied.end)) continue
    if (start < first) first = start
    if (end > last) last = end
    bytes += end - start
  }
  return { start: bytes === 0 ? 0 : first, end: last, bytes }
}

/**
 * Writes the slots of the values `from` to `to`, exclusive. Longer texts must be in one of the two copies, which are
 * UTF-8; in place of an address their slots have the place in the copy and its number. Returns false when a text is not
 * UTF-8.
 */
export function writeSlots(
  words: Uint32Array,
  row: number,
  { bytes, spans, first }: TextColumn,
  from: number,
  to: number,
  own: Copied,
  other: Copied,
): boolean {
  const slots = new Uint8Array(words.buffer)
  words.fill(0, row * slotWords, (row + to - from) * slotWords)
  let isWhole = true
  for (let i = from, at = row * slotWords; i < to; i++, at += slotWords) {
    const start = spans[first + i * 2]!
    const end = spans[first + i * 2 + 1]!
    const isLong = end - start > slotTextBytesMax
    words[at] = end - start
    let all = 0
    const slotEnd = isLong ? start + 4 : end
    for (let source = start, target = at * 4 + 4; source < slotEnd; ) {
      all |= bytes[source]!
      slots[target++] = bytes[source++]!
    }
    if (isLong) {
      const copied = start >= own.start && end <= own.end ? own : other
      words[at + 2] = start - copied.start
      words[at + 3] = copied.number
      // What follows the copy may be no text at all.
      if (goesOn(bytes[start]!) || (end < copied.end && goesOn(bytes[end]!))) isWhole = false
    } else if (all > 0x7f && !isUtf8(bytes.subarray(start, end))) {
      isWhole = false
    }
  }
  return isWhole
}

/** Makes addresses of the places and numbers in the first `rows` slots: `addresses` are those of the copies. */
export function addressSlots(words: Uint32Array, rows: number, addresses: readonly number[]): void {
  for (let at = 0; at < rows * slotWords; at += slotWords) {
    if (words[at]! <= slotTextBytesMax) continue
    const address = addresses[words[at + 3]!]! + words[at + 2]!
    words[at + 2] = address
    words[at + 3] = address / wordRange
  }
}

/** True for a byte that goes on with a character of UTF-8. */
function goesOn(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
