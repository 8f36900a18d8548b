// The codes of a block (RFC 1951, 3.2.6 and 3.2.7), in AssemblyScript: those it brings with it, and the fixed ones.

import {
  codeLengthsAt,
  distanceBitsMax,
  distanceMeaningsAt,
  distancesMax,
  distanceTableAt,
  fixedDistanceTableAt,
  fixedLiteralTableAt,
  lengthBitsMax,
  lengthMeaningsAt,
  lengthsMax,
  lengthTableAt,
  literalBitsMax,
  literalMeaningsAt,
  literalsMax,
  literalTableAt,
} from '../src/capture/inflate-layout'
import { heldBits, isOver, nextByte, refill, takeBits } from './bit-stream'
import { fillMeanings, makeTable } from './code-table'

/** Masks for the bits of the first lookup. */
export const fixedLiteralMask: u32 = 511
export const fixedDistanceMask: u32 = 31
let literals: u32 = 0
let distances: u32 = 0

fillMeanings()
makeFixedTables()

/** Those of the tables that were made last. */
export function literalMask(): u32 {
  return literals
}

export function distanceMask(): u32 {
  return distances
}

/** Reads the codes of a block and makes their tables. Returns false when they are wrong. */
export function readCodes(): bool {
  const literalCount: i32 = takeBits(5) + 257
  const distanceCount: i32 = takeBits(5) + 1
  if (!readLengthCodes(takeBits(4) + 4) || literalCount > 286 || distanceCount > 30) return false
  if (!readCodeLengths(literalCount + distanceCount)) return false
  // A block has an end.
  if (load<u8>(codeLengthsAt, 256) === 0) return false
  const forLiterals = makeTable(0, literalCount, literalMeaningsAt, literalTableAt, literalBitsMax, false)
  if (forLiterals < 0) return false
  const forDistances = makeTable(
    literalCount,
    distanceCount,
    distanceMeaningsAt,
    distanceTableAt,
    distanceBitsMax,
    true,
  )
  if (forDistances < 0) return false
  literals = (1 << forLiterals) - 1
  distances = (1 << forDistances) - 1
  return true
}

/** Reads the lengths of the `count` codes that lengths have, and makes their table, of `lengthBitsMax` bits. */
function readLengthCodes(count: i32): bool {
  memory.fill(codeLengthsAt, 0, lengthsMax)
  refill()
  for (let index = 0; index < count; index++) {
    if (index === 16) refill()
    store<u8>(codeLengthsAt + symbolInOrder(index), takeBits(3))
  }
  const bits = makeTable(0, lengthsMax, lengthMeaningsAt, lengthTableAt, lengthBitsMax, false)
  if (bits < 0) return false
  for (let size = 4 << bits; size < 4 << lengthBitsMax; size <<= 1)
    memory.copy(lengthTableAt + size, lengthTableAt, size)
  return true
}

/** The likely ones first: 16, 17, 18, 0, 8, 7, 9, 6, 10 and so on. */
function symbolInOrder(index: i32): i32 {
  if (index < 4) return index === 3 ? 0 : 16 + index
  const away = (index - 3) >> 1
  return (index & 1) === 0 ? 8 + away : 8 - away
}

/** Reads the lengths of `count` codes, some as runs of the same. */
function readCodeLengths(count: i32): bool {
  const end: usize = codeLengthsAt + count
  let at: usize = codeLengthsAt
  while (at < end) {
    if (isOver(nextByte())) return false
    refill()
    const entry: u32 = load<u32>(lengthTableAt + ((<u32>heldBits() & ((1 << lengthBitsMax) - 1)) << 2))
    takeBits(entry & 63)
    const symbol: u32 = entry >> 16
    if (symbol < 16) {
      store<u8>(at, symbol)
      at++
      continue
    }
    if (symbol === 16 && at === codeLengthsAt) return false
    const length: u8 = symbol === 16 ? load<u8>(at - 1) : 0
    const run: u32 = symbol === 16 ? 3 + takeBits(2) : symbol === 17 ? 3 + takeBits(3) : 11 + takeBits(7)
    memory.fill(at, length, run)
    at += run
  }
  return at === end
}

function makeFixedTables(): void {
  memory.fill(codeLengthsAt, 8, 144)
  memory.fill(codeLengthsAt + 144, 9, 112)
  memory.fill(codeLengthsAt + 256, 7, 24)
  memory.fill(codeLengthsAt + 280, 8, 8)
  makeTable(0, literalsMax, literalMeaningsAt, fixedLiteralTableAt, 9, false)
  memory.fill(codeLengthsAt, 5, distancesMax)
  makeTable(0, distancesMax, distanceMeaningsAt, fixedDistanceTableAt, 5, false)
}
