// Shortens a text to a few thousand bytes of the same CRC-32, in AssemblyScript.
//
// A CRC is what is left of the text, as a polynomial, when it is divided by that of the CRC (RFC 1952, 8). Of that one
// x^300 + x^155 + x^117 + x^89 + 1 is a multiple, and so is the same in x^128, since squaring keeps it one: nothing of
// the CRC changes when 16 bytes are added (xor) 145, 183, 211 and 300 times 16 bytes further on, and taken away where
// they were. All goes on in that way until the last 300 are reached: the idea of Chorba (S. Russell, 2024), which needs
// no table and no instruction that WebAssembly lacks.

import { shorteningAt, shortTextAt } from '../src/capture/inflate-layout'

const wordBytes: i32 = 16
const reach: i32 = 300
/** Of so many words what they add is kept apart, in the processor's first cache. */
const wordsMax: i32 = 900

/**
 * Shortens `size` bytes at `text`, 4800 at least, to those at `shortTextAt`, and returns how many they are. Their CRC
 * is the text's when it is begun from the inverse of what it begins from otherwise.
 */
export function shorten(text: usize, size: i32): i32 {
  const kept: usize = shorteningAt
  const added: usize = kept + reach * wordBytes
  memory.fill(kept, 0, reach * wordBytes)
  // Begins with ones, as a CRC does.
  store<i32>(kept, -1)
  let at = text
  let left = size / wordBytes - reach
  while (left > 0) {
    const words = min(left, wordsMax)
    add(at, kept, added, words)
    memory.copy(kept, kept + words * wordBytes, reach * wordBytes)
    at += words * wordBytes
    left -= words
  }
  memory.fill(added, 0, reach * wordBytes)
  add(at, kept, shortTextAt, reach)
  const rest = size & (wordBytes - 1)
  memory.copy(shortTextAt + reach * wordBytes, at + reach * wordBytes, rest)
  return reach * wordBytes + rest
}

/** Adds to `words` words of the text what those up to `reach` before them left, which stands from `kept` on. */
function add(text: usize, kept: usize, sums: usize, words: i32): void {
  for (let at: usize = 0; at < <usize>(words * wordBytes); at += wordBytes) {
    const near = v128.xor(v128.load(kept + at, 117 * wordBytes), v128.load(kept + at, 155 * wordBytes))
    const far = v128.xor(v128.load(kept + at), v128.load(kept + at, 89 * wordBytes))
    v128.store(sums + at, v128.xor(v128.load(text + at), v128.xor(near, far)))
  }
}
