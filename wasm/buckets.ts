// The common case of buckets (src/flags/bucket.ts), in AssemblyScript: four SHA-1s (FIPS 180-4) side by side, a word of
// each in a vector. Of texts that differ in their prefixes and salts and have their id in common.

import {
  blockCountsAt,
  bucketLayoutNumber,
  bucketsAt,
  digestAt,
  idAt,
  lanes,
  messageBytes,
  messagesAt,
  textHeadBytes,
  textsAt,
  variantBytes,
  wordsAt,
} from '../src/flags/bucket-layout'

export const layout: i32 = bucketLayoutNumber

/** The bit that SHA-1 puts behind a message, in its byte; "vari", and "ant" with that byte. */
const bit: u64 = 0x80
const variant: u64 = 0x69726176
const antAndBit: u64 = 0x80746e61

const blockBytes: i32 = 64
const vectorBytes: usize = 16
const bucketEnd: f64 = <f64>((<u64>1) << 60)

/** Writes the buckets of `count` texts with the id of `idLength` bytes. */
export function hashTexts(count: i32, idLength: i32): void {
  let text: usize = textsAt
  for (let first = 0; first < count; first += lanes) {
    let blocks: i32 = 0
    // Lanes without a text hash once more what they had, which is read by nobody.
    for (let lane = 0; lane < min(lanes, count - first); lane++) {
      const own = writeMessage(messagesAt + lane * messageBytes, text, idLength)
      store<i32>(blockCountsAt + lane * 4, own)
      blocks = max(blocks, own)
      text += textHeadBytes + load<u8>(text)
    }
    openDigests()
    for (let block = 0; block < blocks; block++) {
      readWords(messagesAt + block * blockBytes)
      addBlocks(i32x4.gt_s(v128.load(blockCountsAt), i32x4.splat(block)))
    }
    for (let lane = 0; lane < lanes; lane++) {
      store<f64>(bucketsAt + (first + lane) * 8, bucketOf(lane))
    }
  }
}

/** Writes prefix, id, salt and padding, and returns how many blocks they are. */
function writeMessage(message: usize, text: usize, idLength: i32): i32 {
  const prefixLength: i32 = load<u8>(text)
  copy(message, text + textHeadBytes, prefixLength)
  let end = message + prefixLength
  copy(end, idAt, idLength)
  end += idLength
  const isVariant = load<u8>(text, 1) !== 0
  store<u64>(end, isVariant ? (antAndBit << 32) | variant : bit)
  if (isVariant) end += variantBytes
  const length: i32 = <i32>(end - message)
  const blocks = (length + 8) / blockBytes + 1
  const padded = message + blocks * blockBytes
  // Of the eight bytes just written the last is the bit, or those behind it are 0.
  for (let at = isVariant ? end + 1 : end + 8; at < padded; at += vectorBytes) v128.store(at, i32x4.splat(0))
  store<u32>(padded - 4, bswap<u32>(length * 8))
  return blocks
}

function copy(to: usize, from: usize, length: usize): void {
  for (let at: usize = 0; at < length; at += vectorBytes) v128.store(to + at, v128.load(from + at))
}

function openDigests(): void {
  v128.store(digestAt, i32x4.splat(0x67452301))
  v128.store(digestAt, i32x4.splat(0xefcdab89), 16)
  v128.store(digestAt, i32x4.splat(0x98badcfe), 32)
  v128.store(digestAt, i32x4.splat(0x10325476), 48)
  v128.store(digestAt, i32x4.splat(0xc3d2e1f0), 64)
}

/** Reads the 16 words of each lane's block, those of the first lane at `block`, and works out the other 64. */
function readWords(block: usize): void {
  for (let at: usize = 0; at < <usize>blockBytes; at += vectorBytes) {
    const first = inOrder(v128.load(block + at))
    const second = inOrder(v128.load(block + at, messageBytes))
    const third = inOrder(v128.load(block + at, 2 * messageBytes))
    const fourth = inOrder(v128.load(block + at, 3 * messageBytes))
    // Four words of each lane become a word of all lanes, four times.
    const low = v128.shuffle<i32>(first, second, 0, 4, 1, 5)
    const high = v128.shuffle<i32>(first, second, 2, 6, 3, 7)
    const lowAfter = v128.shuffle<i32>(third, fourth, 0, 4, 1, 5)
    const highAfter = v128.shuffle<i32>(third, fourth, 2, 6, 3, 7)
    const words = wordPlace(<i32>at / 4)
    v128.store(words, v128.shuffle<i64>(low, lowAfter, 0, 2))
    v128.store(words, v128.shuffle<i64>(low, lowAfter, 1, 3), 16)
    v128.store(words, v128.shuffle<i64>(high, highAfter, 0, 2), 32)
    v128.store(words, v128.shuffle<i64>(high, highAfter, 1, 3), 48)
  }
  for (let at = wordPlace(16); at < wordPlace(80); at += vectorBytes) {
    const near = v128.xor(v128.load(at - 3 * vectorBytes), v128.load(at - 8 * vectorBytes))
    const far = v128.xor(v128.load(at - 14 * vectorBytes), v128.load(at - 16 * vectorBytes))
    v128.store(at, rotated(v128.xor(near, far), 1))
  }
}

/** Of a round's words. */
function wordPlace(round: i32): usize {
  return wordsAt + round * 16
}

/** Words whose first byte is their highest. */
function inOrder(words: v128): v128 {
  return v128.shuffle<i8>(words, words, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
}

function rotated(words: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(words, bits), i32x4.shr_u(words, 32 - bits))
}

/** Adds a block to the digests of the lanes that are all ones in `isOwn`; the other lanes have ended before it. */
function addBlocks(isOwn: v128): void {
  let a = v128.load(digestAt)
  let b = v128.load(digestAt, 16)
  let c = v128.load(digestAt, 32)
  let d = v128.load(digestAt, 48)
  let e = v128.load(digestAt, 64)
  let at = wordPlace(0)
  // `a` is added last: it is what the round before has made, and everything else is there by then.
  for (; at < wordPlace(20); at += vectorBytes) {
    const mixed = v128.bitselect(c, d, b)
    const next = i32x4.add(sum(e, at, 0x5a827999, mixed), rotated(a, 5))
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  for (; at < wordPlace(40); at += vectorBytes) {
    const mixed = v128.xor(b, v128.xor(c, d))
    const next = i32x4.add(sum(e, at, 0x6ed9eba1, mixed), rotated(a, 5))
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  for (; at < wordPlace(60); at += vectorBytes) {
    const mixed = v128.bitselect(b, c, v128.xor(c, d)) // the majority: b decides where c and d differ
    const next = i32x4.add(sum(e, at, 0x8f1bbcdc, mixed), rotated(a, 5))
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  for (; at < wordPlace(80); at += vectorBytes) {
    const mixed = v128.xor(b, v128.xor(c, d))
    const next = i32x4.add(sum(e, at, 0xca62c1d6, mixed), rotated(a, 5))
    e = d
    d = c
    c = rotated(b, 30)
    b = a
    a = next
  }
  addTo(digestAt, v128.and(a, isOwn))
  addTo(digestAt + 16, v128.and(b, isOwn))
  addTo(digestAt + 32, v128.and(c, isOwn))
  addTo(digestAt + 48, v128.and(d, isOwn))
  addTo(digestAt + 64, v128.and(e, isOwn))
}

function sum(e: v128, word: usize, constant: i32, mixed: v128): v128 {
  return i32x4.add(i32x4.add(i32x4.add(e, i32x4.splat(constant)), v128.load(word)), mixed)
}

function addTo(place: usize, words: v128): void {
  v128.store(place, i32x4.add(v128.load(place), words))
}

/** The first 60 bits of the digest, rounded once, divided by 2^60. */
function bucketOf(lane: i32): f64 {
  const high: u64 = load<u32>(digestAt + lane * 4)
  const low: u64 = load<u32>(digestAt + lane * 4, 16)
  return <f64>((high << 28) | (low >> 4)) / bucketEnd
}
