// Inflating (RFC 1951) a stream that stands in memory whole, in AssemblyScript for WebAssembly, when it is sound and
// makes as much text as it was said to. Whatever else it is is not told here: src/capture/gunzip then asks zlib.
//
// Between two refills there are at most three literals and a length, of 11 + 11 + 11 + 20 bits, then a length's
// distance of 28. Places are compared with the ends as rarely. Until then bytes are read behind the stream and written
// behind the text, where the layout has margins for them.

import {
  distanceTableAt,
  fixedDistanceTableAt,
  fixedLiteralTableAt,
  inflateLayoutNumber,
  literalTableAt,
} from '../src/capture/inflate-layout'
import {
  heldBitCount,
  heldBits,
  hold,
  isOver,
  nextByte,
  openStream,
  refill,
  roomBytes,
  streamEnd,
  streamPlace,
  takeBits,
} from './bit-stream'
import { distanceMask, fixedDistanceMask, fixedLiteralMask, literalMask, readCodes } from './block-codes'
import { blockEnd, link, special } from './code-table'

export { shorten } from './checksum'

export const layout: i32 = inflateLayoutNumber

const storedKind: u32 = 0
const fixedKind: u32 = 1
const dynamicKind: u32 = 2

/** Where the text begins, goes on and must end. */
let textStart: usize = 0
let textPlace: usize = 0
let textEnd: usize = 0

/** Inflates the stream of bytes [start, end) to the text [text, endOfText). Returns whether it is exactly that. */
export function inflate(start: usize, end: usize, text: usize, endOfText: usize): bool {
  openStream(start, end)
  textStart = text
  textPlace = text
  textEnd = endOfText
  let isLast = false
  while (!isLast) {
    refill()
    isLast = takeBits(1) === 1
    if (!passBlock(takeBits(2)) || streamPlace() > end) return false
  }
  return streamPlace() === end && textPlace === endOfText
}

function passBlock(kind: u32): bool {
  if (kind === dynamicKind)
    return readCodes() && passCodes(literalTableAt, literalMask(), distanceTableAt, distanceMask())
  if (kind === fixedKind)
    return passCodes(fixedLiteralTableAt, fixedLiteralMask, fixedDistanceTableAt, fixedDistanceMask)
  return kind === storedKind && passStored()
}

/** Passes a block's text that stands there as it is. */
function passStored(): bool {
  const place = streamPlace()
  const size: u32 = load<u16>(place)
  if (place + 4 + size > streamEnd() || textPlace + size > textEnd) return false
  if ((size ^ load<u16>(place, 2)) !== 0xffff) return false
  memory.copy(textPlace, place + 4, size)
  textPlace += size
  hold(0, 0, place + 4 + size)
  return true
}

/** Passes a block's text that is told by codes. */
function passCodes(literals: usize, literalMask: u32, distances: usize, distanceMask: u32): bool {
  let bits = heldBits()
  let count = heldBitCount()
  let next = nextByte()
  let place = textPlace
  while (!isOver(next) && place <= textEnd) {
    bits |= load<u64>(next) << (<u64>count)
    next += roomBytes(count)
    count |= 56
    let entry: u32 = load<u32>(literals + ((<u32>bits & literalMask) << 2))
    if (isLiteral(entry)) {
      bits >>= <u64>entry
      count -= entry
      store<u8>(place, entry >> 16)
      place++
      entry = load<u32>(literals + ((<u32>bits & literalMask) << 2))
      if (isLiteral(entry)) {
        bits >>= <u64>entry
        count -= entry
        store<u8>(place, entry >> 16)
        place++
        entry = load<u32>(literals + ((<u32>bits & literalMask) << 2))
        if (isLiteral(entry)) {
          bits >>= <u64>entry
          count -= entry
          store<u8>(place, entry >> 16)
          place++
          entry = load<u32>(literals + ((<u32>bits & literalMask) << 2))
        }
      }
    }
    if ((entry & special) !== 0) {
      if ((entry & link) !== 0) entry = secondEntry(literals, entry, bits)
      if ((entry & special) !== 0) {
        hold(bits >> <u64>entry, count - entry, next)
        textPlace = place
        return (entry & blockEnd) !== 0
      }
    }
    const origin = bits
    bits >>= <u64>entry
    count -= entry
    if (isLiteral(entry)) {
      store<u8>(place, entry >> 16)
      place++
      continue
    }
    const length = numberOf(entry, origin)
    if ((count & 63) < 28) {
      bits |= load<u64>(next) << (<u64>count)
      next += roomBytes(count)
      count |= 56
    }
    entry = load<u32>(distances + ((<u32>bits & distanceMask) << 2))
    if ((entry & special) !== 0) {
      if ((entry & link) !== 0) entry = secondEntry(distances, entry, bits)
      if ((entry & special) !== 0) return false
    }
    const distance: usize = numberOf(entry, bits)
    bits >>= <u64>entry
    count -= entry
    if (distance > place - textStart) return false
    copyMatch(place, distance, length)
    place += length
  }
  return false
}

function isLiteral(entry: u32): bool {
  return <i32>entry < 0
}

/** What is meant by the first lookup's bits and those behind them. */
function secondEntry(table: usize, entry: u32, bits: u64): u32 {
  const index: u32 = <u32>(bits >> <u64>entry) & ((1 << (entry >> 8)) - 1)
  return load<u32>(table + (((entry >> 16) + index) << 2))
}

/** The length or distance. The number behind its code is added. */
function numberOf(entry: u32, bits: u64): u32 {
  return (entry >> 16) + ((<u32>bits & ((1 << entry) - 1)) >> (entry >> 8))
}

/** Writes `length` bytes at `place` that stand `distance` bytes before, and up to 48 more. */
function copyMatch(place: usize, distance: usize, length: u32): void {
  let to = place
  const from = place - distance
  // The distance may be doubled: text that is the same from one to the next is the same from one to the next but one.
  while (to - from < 16) {
    v128.store(to, v128.load(from))
    to += to - from
  }
  const end = place + length
  const behind = to - from
  do {
    v128.store(to, v128.load(to - behind))
    v128.store(to, v128.load(to - behind, 16), 16)
    v128.store(to, v128.load(to - behind, 32), 32)
    to += 48
  } while (to < end)
}
