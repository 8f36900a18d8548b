// SHA-1 (FIPS 180-4) for short inputs: person ids and flag buckets are defined by it. Not for secrets.
//
// In plain TypeScript, because leaving V8 costs more than two blocks: see the numbers at addBlock.

const roundWords = new Int32Array(80)
const blockBytes = 64

/**
 * Hashes `scratch[0, length)` and writes the five words of the digest to `digest`. `scratch` is filled up with the
 * padding: it must have room for `paddedLength(length)` bytes.
 */
export function sha1(scratch: Uint8Array, length: number, digest: Int32Array): void {
  const end = paddedLength(length)
  scratch[length] = 0x80
  scratch.fill(0, length + 1, end - 4)
  const bits = length * 8
  scratch[end - 4] = bits >>> 24
  scratch[end - 3] = bits >>> 16
  scratch[end - 2] = bits >>> 8
  scratch[end - 1] = bits
  digest[0] = 0x67452301
  digest[1] = 0xefcdab89
  digest[2] = 0x98badcfe
  digest[3] = 0x10325476
  digest[4] = 0xc3d2e1f0
  for (let at = 0; at < end; at += blockBytes) addBlock(scratch, at, digest)
}

/** Bytes that `length` bytes take with SHA-1's padding; `length` is below 2^29. */
export function paddedLength(length: number): number {
  return ((length + 8) & -blockBytes) + blockBytes
}

/**
 * Adds one block to the digest. Four loops instead of one with branches, and every sum cut to 32 bits at once, or V8
 * adds doubles: a born id of one block takes 0.41 µs this way and 0.65 with either left out, crypto.hash 0.8 to 1.5
 * for the hash alone (Node 20.20).
 */
function addBlock(bytes: Uint8Array, at: number, digest: Int32Array): void {
  const words = roundWords
  for (let round = 0; round < 16; round++) {
    const byte = at + round * 4
    words[round] =
      (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!
  }
  for (let round = 16; round < 80; round++) {
    const mixed = words[round - 3]! ^ words[round - 8]! ^ words[round - 14]! ^ words[round - 16]!
    words[round] = (mixed << 1) | (mixed >>> 31)
  }
  let a = digest[0]!
  let b = digest[1]!
  let c = digest[2]!
  let d = digest[3]!
  let e = digest[4]!
  for (let round = 0; round < 20; round++) {
    const sum = ((e + ((b & c) | (~b & d))) | 0) + ((words[round]! + 0x5a827999) | 0)
    const next = (((a << 5) | (a >>> 27)) + (sum | 0)) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (let round = 20; round < 40; round++) {
    const sum = ((e + (b ^ c ^ d)) | 0) + ((words[round]! + 0x6ed9eba1) | 0)
    const next = (((a << 5) | (a >>> 27)) + (sum | 0)) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (let round = 40; round < 60; round++) {
    const sum = ((e + ((b & c) | (d & (b | c)))) | 0) + ((words[round]! + 0x8f1bbcdc) | 0)
    const next = (((a << 5) | (a >>> 27)) + (sum | 0)) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  for (let round = 60; round < 80; round++) {
    const sum = ((e + (b ^ c ^ d)) | 0) + ((words[round]! + 0xca62c1d6) | 0)
    const next = (((a << 5) | (a >>> 27)) + (sum | 0)) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  digest[0] = digest[0]! + a
  digest[1] = digest[1]! + b
  digest[2] = digest[2]! + c
  digest[3] = digest[3]! + d
  digest[4] = digest[4]! + e
}
