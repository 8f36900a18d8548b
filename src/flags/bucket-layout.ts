// Where things lie in the memory that hashing side by side in WebAssembly shares with JavaScript (bucket-table), in
// bytes. This file is compiled as TypeScript and as AssemblyScript: nothing but whole numbers.

/** Messages that are hashed at a time: so many 32-bit words has a vector. */
export const lanes = 4

/** What comes before an id and behind it. */
export const prefixBytesMax = 100
export const idBytesMax = 200
/** "variant"; a rollout has nothing there. */
export const variantBytes = 7

/** Texts that are handed over at a time: 1 to 4 µs of hashing, some of which may be for nothing. */
export const textsMax = 16
/** Of each its prefix's length and whether it is a variant's, a byte each, and the prefix. */
export const textHeadBytes = 2

/** Bytes are copied 16 at a time, so up to 15 more are read and written. */
const margin = 16

export const textsAt = 0
export const idAt = textsAt + textsMax * (textHeadBytes + prefixBytesMax) + margin

/** With SHA-1's padding, nine bytes or more, in blocks of 64 bytes: 5 of them. */
export const messageBytes = (((prefixBytesMax + idBytesMax + variantBytes + 8) >> 6) + 1) * 64 + margin
export const messagesAt = (idAt + idBytesMax + margin + 15) & ~15
/** By lane, i32: the blocks of its message. */
export const blockCountsAt = messagesAt + lanes * messageBytes
/** The words of a round, and the five of the digest: each a vector with one of every lane. */
export const wordsAt = blockCountsAt + 16
export const digestAt = wordsAt + 80 * 16
/** By text, f64. */
export const bucketsAt = digestAt + 5 * 16

export const memoryBytes = bucketsAt + textsMax * 8

/** Raised when something that lies where it did means something else. */
const revision = 1

/** Tells builds apart that do not understand each other. */
export const bucketLayoutNumber = memoryBytes * 16 + revision
