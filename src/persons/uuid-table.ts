// A map from uuids to 16 bytes, in so much memory and no more: a million entries weigh 32 bytes each, and nothing for
// the garbage collector. Entries may be forgotten, never wrong.
//
// It holds two generations. What is asked for moves to the young one; when that is full, it becomes the old one and the
// old one is forgotten. Slots are found by two words of the uuid and two of chance: who sends distinct_ids can choose
// hashes of them that begin alike. A uuid of all zeros cannot be kept.

import { randomInt } from 'node:crypto'

/** Of a slot: the uuid, and what it leads to. */
const slotWords = 8
const slotBytes = slotWords * 4
const slotsMin = 16
/** Of the slots; probing costs little up to there. */
const fillMax = 0.7
/** The first two words of what is known no more. A value that begins so cannot be kept. */
const forgotten = 0xffff_ffff

const [firstSeed, secondSeed] = [randomInt(2 ** 32), randomInt(2 ** 32)]

interface Generation {
  words: Uint32Array
  count: number
}

export class UuidTable {
  readonly #slotsMax: number
  #young = emptyGeneration(slotsMin)
  #old: Generation | null = null
  readonly #nothing = new Uint32Array(4).fill(forgotten)

  /** The table grows up to `bytesMax`, and is never smaller than 1 KiB. */
  constructor(bytesMax: number) {
    this.#slotsMax = Math.max(slotsMin, 2 ** Math.floor(Math.log2(bytesMax / 2 / slotBytes)))
  }

  /** Copies what `key` leads to into `value`, four words each. Returns false when that is not known. */
  get(key: Uint32Array, value: Uint32Array): boolean {
    const isYoung = read(this.#young, key, value)
    if (!isYoung && (this.#old === null || !read(this.#old, key, value))) return false
    if (value[0] === forgotten && value[1] === forgotten) return false
    if (!isYoung) this.set(key, value)
    return true
  }

  set(key: Uint32Array, value: Uint32Array): void {
    const { words, count } = this.#young
    const slots = words.length / slotWords
    if (count + 1 > slots * fillMax) this.#makeRoom(slots)
    write(this.#young, key, value)
  }

  forget(key: Uint32Array): void {
    this.set(key, this.#nothing)
  }

  clear(): void {
    this.#young = emptyGeneration(slotsMin)
    this.#old = null
  }

  #makeRoom(slots: number): void {
    const full = this.#young
    if (slots >= this.#slotsMax) {
      this.#old = full
      this.#young = emptyGeneration(slots)
      return
    }
    this.#young = emptyGeneration(slots * 2)
    for (let at = 0; at < full.words.length; at += slotWords) {
      const key = full.words.subarray(at, at + 4)
      if (!isEmpty(full.words, at)) write(this.#young, key, full.words.subarray(at + 4, at + slotWords))
    }
  }
}

function emptyGeneration(slots: number): Generation {
  return { words: new Uint32Array(slots * slotWords), count: 0 }
}

function read({ words }: Generation, key: Uint32Array, value: Uint32Array): boolean {
  const at = find(words, key)
  if (isEmpty(words, at)) return false
  for (let word = 0; word < 4; word++) value[word] = words[at + 4 + word]!
  return true
}

function write(generation: Generation, key: Uint32Array, value: Uint32Array): void {
  const { words } = generation
  const at = find(words, key)
  if (isEmpty(words, at)) generation.count++
  for (let word = 0; word < 4; word++) {
    words[at + word] = key[word]!
    words[at + 4 + word] = value[word]!
  }
}

/** Where `key` stands, or the empty slot in which it would. There always is one. */
function find(words: Uint32Array, key: Uint32Array): number {
  const last = words.length - slotWords
  let hash = Math.imul(key[0]! ^ firstSeed, 0x9e37_79b1)
  hash = Math.imul(hash ^ (hash >>> 15) ^ key[1]! ^ secondSeed, 0x85eb_ca6b)
  for (let at = ((hash ^ (hash >>> 13)) * slotWords) & last; ; at = (at + slotWords) & last) {
    if (isEmpty(words, at)) return at
    if (
      words[at] === key[0] &&
      words[at + 1] === key[1] &&
      words[at + 2] === key[2] &&
      words[at + 3] === key[3]
    )
      return at
  }
}

function isEmpty(words: Uint32Array, at: number): boolean {
  return (words[at]! | words[at + 1]! | words[at + 2]! | words[at + 3]!) === 0
}
