// What a person has seen in 16 bytes: the lower words of three digests, and their upper bits. The cache keeps them as
// four words, the person's row as a uuid (`person.seen`), which is the type of so many bytes.

import { digestBits } from '../capture/person-digest.ts'
import type { Seen } from '../identity/seen.ts'
import { formatUuid } from '../lib/uuid.ts'

const wordRange = 2 ** 32
/** Of a digest beside its lower word. */
const upperBits = digestBits - 32
const upperMask = 2 ** upperBits - 1

// Both sides of the same memory.
const bytes = new Uint8Array(16)
const words = new Uint32Array(bytes.buffer)

export function packSeen({ last, before, earlier }: Seen, value: Uint32Array): void {
  value[0] = last
  value[1] = before
  value[2] = earlier
  value[3] = upperOf(last) | (upperOf(before) << upperBits) | (upperOf(earlier) << (2 * upperBits))
}

export function unpackSeen(value: Uint32Array): Seen {
  const upper = value[3]!
  return {
    last: value[0]! + (upper & upperMask) * wordRange,
    before: value[1]! + ((upper >>> upperBits) & upperMask) * wordRange,
    earlier: value[2]! + ((upper >>> (2 * upperBits)) & upperMask) * wordRange,
  }
}

/** Whether one of the packed digests is this one. */
export function hasPacked(value: Uint32Array, digest: number): boolean {
  const low = digest >>> 0
  const upper = upperOf(digest)
  for (let place = 0; place < 3; place++) {
    if (value[place] === low && ((value[3]! >>> (place * upperBits)) & upperMask) === upper) return true
  }
  return false
}

/** As a row holds it; null when nothing was seen. */
export function printSeen(seen: Seen): string | null {
  if (seen.last === 0) return null
  packSeen(seen, words)
  return formatUuid(bytes, 0)
}

function upperOf(digest: number): number {
  return Math.floor(digest / wordRange)
}
