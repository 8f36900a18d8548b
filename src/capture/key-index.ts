// Finds a name in a fixed set of names by its bytes: open addressing over a hash of a few of them.

import { unescapeTo } from './unescape.ts'

/** A set of names with consecutive numbers. */
export interface KeyIndex {
  /** Number of the name by slot, -1 where the slot is empty. */
  readonly slots: Int16Array
  /** By number, counted from `first`. */
  readonly names: readonly Uint8Array[]
  readonly first: number
}

/** Some four slots a name for the largest set, so that most strangers meet an empty one at once. */
const slotMask = 511

/** Room for the longest name with every letter escaped. */
const nameScratch = new Uint8Array(6 * 64)

/** Builds the index of `names`, which are numbered from `first` on. */
export function buildKeyIndex(names: readonly string[], first: number): KeyIndex {
  const slots = new Int16Array(slotMask + 1).fill(-1)
  const texts = names.map((name) => new Uint8Array(Buffer.from(name)))
  texts.forEach((text, index) => {
    let slot = sampleKey(text, 0, text.length) & slotMask
    while (slots[slot]! >= 0) slot = (slot + 1) & slotMask
    slots[slot] = first + index
  })
  return { slots, names: texts, first }
}

/** Mixes the length and four bytes of a name: enough to tell the keys of an event apart, and quick. */
export function sampleKey(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length === 0) return 0
  const middle = bytes[start + (length >>> 1)]!
  const ends = (bytes[start]! << 8) | bytes[end - 1]!
  const third = bytes[start + ((length * 3) >>> 2)]!
  const mixed = Math.imul((middle << 16) ^ (third << 21) ^ ends ^ (length << 12), 0x9e3779b1)
  return mixed ^ (mixed >>> 15)
}

/** The number of the name at [start, end), or -1. `sample` is its sampleKey. */
export function findKey(
  index: KeyIndex,
  bytes: Uint8Array,
  start: number,
  end: number,
  sample: number,
): number {
  for (let slot = sample & slotMask; ; slot = (slot + 1) & slotMask) {
    const key = index.slots[slot]!
    if (key < 0 || isSameText(index.names[key - index.first]!, bytes, start, end)) return key
  }
}

/** The same for a JSON string with escapes. */
export function findEscapedKey(index: KeyIndex, bytes: Uint8Array, start: number, end: number): number {
  if (end - start > nameScratch.length) return -1
  const length = unescapeTo(bytes, start, end, nameScratch, 0)
  return findKey(index, nameScratch, 0, length, sampleKey(nameScratch, 0, length))
}

/** True when `text` is what stands at bytes[start, end). */
export function isSameText(text: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false
  for (let at = start; at < end; at++) if (bytes[at] !== text[at - start]) return false
  return true
}
