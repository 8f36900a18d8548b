// Tables of prefix codes (RFC 1951, 3.2.2), in AssemblyScript: a lookup by the next bits tells what they mean.
//
// An entry is an i32. Its lowest bits say how many bits to take, those of an extra number included; eight bits higher
// stands how many of them are code. Above is the meaning: the byte of a literal, whose sign bit is set, or what the
// extra number is added to. With `special` set it is a link to a second lookup, the end of a block, or neither.

import {
  codeLengthsAt,
  countsAt,
  distanceMeaningsAt,
  lengthMeaningsAt,
  literalMeaningsAt,
  placesAt,
  symbolsAt,
} from '../src/capture/inflate-layout'

export const literal: u32 = 1 << 31
export const special: u32 = 1 << 7
export const link: u32 = 1 << 6
export const blockEnd: u32 = 1 << 13

const codeBitsMax: i32 = 15
const none: i32 = -1

/** Writes down what the symbols of all alphabets mean. */
export function fillMeanings(): void {
  for (let byte = 0; byte < 256; byte++) store<u32>(literalMeaningsAt + (byte << 2), literal | (byte << 16))
  store<u32>(literalMeaningsAt + (256 << 2), special | blockEnd)
  for (let index = 0; index < 29; index++) {
    const extra = index < 8 || index === 28 ? 0 : (index >> 2) - 1
    const base = index < 8 ? index + 3 : index === 28 ? 258 : ((4 + (index & 3)) << extra) + 3
    store<u32>(literalMeaningsAt + ((257 + index) << 2), (base << 16) | extra)
  }
  for (let index = 0; index < 30; index++) {
    const extra = index < 4 ? 0 : (index >> 1) - 1
    const base = index < 4 ? index + 1 : ((2 + (index & 1)) << extra) + 1
    store<u32>(distanceMeaningsAt + (index << 2), (base << 16) | extra)
  }
  for (let symbol = 286; symbol < 288; symbol++) store<u32>(literalMeaningsAt + (symbol << 2), special)
  for (let symbol = 30; symbol < 32; symbol++) store<u32>(distanceMeaningsAt + (symbol << 2), special)
  for (let symbol = 0; symbol < 19; symbol++) store<u32>(lengthMeaningsAt + (symbol << 2), symbol << 16)
}

/**
 * Makes the table of the `count` symbols whose code lengths stand at `codeLengthsAt` from `first` on. Returns the bits
 * of the first lookup, or -1 when the codes are too many or leave a gap. With `isGapMet` a single code of one bit will
 * do, or none at all.
 */
export function makeTable(
  first: i32,
  count: i32,
  meanings: usize,
  table: usize,
  bitsMax: i32,
  isGapMet: bool,
): i32 {
  const longest = sortSymbols(codeLengthsAt + first, count)
  if (longest <= 0) return longest < 0 || !isGapMet ? none : gapTable(table, special)
  if (!isFull(longest)) {
    if (!isGapMet || longest > 1) return none
    return gapTable(table, load<u32>(meanings + (load<u16>(symbolsAt) << 2)) + 0x101)
  }
  const bits = min(longest, bitsMax)
  let code = 0
  let length = 1
  let symbol: usize = symbolsAt
  let size = 2
  // Codes are counted with their first bit lowest. A table of n bits twice is one of n + 1.
  for (; ; length++) {
    for (let left = load<i32>(countsAt + (length << 2)); left > 0; left--) {
      store<u32>(table + (code << 2), load<u32>(meanings + (load<u16>(symbol) << 2)) + (length << 8) + length)
      symbol += 2
      code = nextCode(code, size - 1)
    }
    if (length === bits) break
    memory.copy(table + (size << 2), table, size << 2)
    size <<= 1
  }
  if (longest > bits) fillSecond(table, bits, longest, code, symbol, meanings)
  return bits
}

/** The code behind `code` of those with the bits `mask`, or 0 behind the last. */
function nextCode(code: i32, mask: i32): i32 {
  const zeros = code ^ mask
  if (zeros === 0) return 0
  const bit = 1 << (31 - clz(zeros))
  return (code & (bit - 1)) | bit
}

/** Fills second lookups, of as many bits as the longest code needs, for the codes from `code` on. */
function fillSecond(
  table: usize,
  bits: i32,
  longest: i32,
  start: i32,
  firstSymbol: usize,
  meanings: usize,
): void {
  const firstMask = (1 << bits) - 1
  const secondBits = longest - bits
  let code = start
  let symbol = firstSymbol
  let prefix = none
  let second: usize = 0
  let end: usize = table + (4 << bits)
  for (let length = bits + 1; length <= longest; length++) {
    const step: usize = 4 << (length - bits)
    for (let left = load<i32>(countsAt + (length << 2)); left > 0; left--) {
      if ((code & firstMask) !== prefix) {
        prefix = code & firstMask
        second = end
        end += 4 << secondBits
        const place: u32 = <u32>(second - table) >> 2
        store<u32>(table + (prefix << 2), (place << 16) | special | link | (secondBits << 8) | bits)
      }
      const entry: u32 = load<u32>(meanings + (load<u16>(symbol) << 2)) + (length << 8) + length
      for (let at: usize = second + ((code >> bits) << 2); at < end; at += step) store<u32>(at, entry)
      symbol += 2
      code = nextCode(code, (1 << length) - 1)
    }
  }
}

/** A table of one bit, of which only 0 may mean something. */
function gapTable(table: usize, entry: u32): i32 {
  store<u32>(table, entry)
  store<u32>(table, special, 4)
  return 1
}

/** Sorts the symbols that have a code by its length. Returns the longest, or -1 when there are too many codes. */
function sortSymbols(lengths: usize, count: i32): i32 {
  memory.fill(countsAt, 0, 16 * 4)
  for (let at = lengths; at < lengths + count; at++) {
    const cell: usize = countsAt + (load<u8>(at) << 2)
    store<i32>(cell, load<i32>(cell) + 1)
  }
  let place = 0
  let room = 1
  let longest = 0
  for (let length = 1; length <= codeBitsMax; length++) {
    const codes = load<i32>(countsAt + (length << 2))
    store<i32>(placesAt + (length << 2), place)
    place += codes
    room = (room << 1) - codes
    if (room < 0) return none
    if (codes > 0) longest = length
  }
  for (let symbol = 0; symbol < count; symbol++) {
    const length: i32 = load<u8>(lengths + symbol)
    if (length === 0) continue
    const cell: usize = placesAt + (length << 2)
    const at = load<i32>(cell)
    store<u16>(symbolsAt + (at << 1), symbol)
    store<i32>(cell, at + 1)
  }
  return longest
}

/** Whether the codes that were counted leave no bits without a meaning. */
function isFull(longest: i32): bool {
  let room = 1
  for (let length = 1; length <= longest; length++) room = (room << 1) - load<i32>(countsAt + (length << 2))
  return room === 0
}
