// The key by which a journal lane knows an event again: 64 bits of hash over (project, uuid, event, distinct_id).
// Sealed segments keep these hashes, so the function must never change without a new kind of sidecar.
//
// Two lanes of murmur3's 32-bit hash with different constants and seeds, four bytes at a time, each text followed by
// its length. (0, 0) means "no key" and is given to no event.

let hash1 = 0
let hash2 = 0

/** Begins the key of an event of this project: its uuid, name and distinct_id are to be added in this order. */
export function beginDedupKey(projectId: number): void {
  hash1 = mixOne(0x9747b28c, projectId)
  hash2 = mixTwo(0x3c6ef372, projectId)
}

/** Adds what stands at [start, end) to the key. */
export function addToDedupKey(view: DataView, start: number, end: number): void {
  let one = hash1
  let two = hash2
  let place = start
  for (; place + 4 <= end; place += 4) {
    const word = view.getInt32(place, true)
    one = mixOne(one, word)
    two = mixTwo(two, word)
  }
  let rest = 0
  for (let shift = 0; place < end; shift += 8) rest |= view.getUint8(place++) << shift
  hash1 = mixOne(mixOne(one, rest), end - start)
  hash2 = mixTwo(mixTwo(two, rest), end - start)
}

/** Writes the key to target[at] and target[at + 1]. */
export function endDedupKey(target: Uint32Array, at: number): void {
  const high = avalanche(hash1 ^ rotate(hash2, 16))
  const low = avalanche(hash2 ^ Math.imul(high, 0x9e3779b1))
  target[at] = high
  target[at + 1] = (high | low) === 0 ? 1 : low
}

function mixOne(hash: number, word: number): number {
  const mixed = Math.imul(rotate(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
  return (Math.imul(rotate(hash ^ mixed, 13), 5) + 0xe6546b64) | 0
}

function mixTwo(hash: number, word: number): number {
  const mixed = Math.imul(rotate(Math.imul(word, 0x239b961b), 16), 0xab0e9789)
  return (Math.imul(rotate(hash ^ mixed, 17), 5) + 0x561ccd1b) | 0
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

function avalanche(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
