// The keys of the last N events of a lane that came with a uuid of the client's: what makes a retry recognisable.
//
// A duplicate does not enter the window again, so a sender that repeats itself pushes nobody else's keys out. The
// window is a function of the journal's order alone: the keys of the last N events that are not duplicates.
//
// A key is two words, not both 0. The ring holds the keys in order of arrival; the table answers whether a key is
// among them: open addressing with linear probing, freed slots closed by moving later keys back. Both grow with what
// they hold. At the default of 4 million keys the ring takes 32 MB and the table 64 MB (load 0.48).
//
// What an append adds stays revocable until the append is on disk: a refused append must leave no trace, or its retry
// would be taken for a duplicate.

import { assert } from '../lib/assert.ts'

const slotsAtStart = 1024

export class DedupWindow {
  readonly #keysMax: number
  #ring: Uint32Array
  /** Keys ever added; the newest stands in the ring at (#added − 1) modulo its length. */
  #added = 0
  #size = 0
  #table: Uint32Array
  /** Slots − 1; the number of slots is a power of two. */
  #mask: number
  /** Keeps the loads of `touch` from being optimised away. */
  #touched = 0
  /** Keys added since the last commit, and the keys that left the window for them. */
  #revocable = 0
  #evicted: number[] = []

  /** An empty window; `keysExpected` only saves growing step by step. */
  constructor(keysMax: number, keysExpected = 0) {
    const expected = Math.min(keysMax, keysExpected)
    let slots = slotsAtStart
    while (slots * 0.75 < expected) slots *= 2
    this.#keysMax = keysMax
    this.#ring = new Uint32Array(2 * Math.min(keysMax, Math.max(expected, slotsAtStart)))
    this.#table = new Uint32Array(2 * slots)
    this.#mask = slots - 1
  }

  get size(): number {
    return this.#size
  }

  /** Keys ever added and not taken back. */
  get added(): number {
    return this.#added
  }

  /** Tells whether the key is in the window, and adds it when it is not. */
  seenOrAdd(low: number, high: number): boolean {
    if (this.#keysMax === 0) return false
    if (this.#find(low, high) >= 0) return true
    if (this.#size === this.#keysMax) this.#evictOldest()
    else this.#makeRoom()
    this.#insert(low, high)
    this.#writeRing(this.#added, low, high)
    this.#added++
    this.#size++
    this.#revocable++
    return false
  }

  /**
   * Brings what adding the keys [from, to) of `keys` looks at into the processor's caches; nothing else comes of it.
   * The slots lie anywhere in the table: loads that need no answer wait for memory side by side, those of `seenOrAdd`
   * one after the other.
   */
  touch(keys: Uint32Array, from: number, to: number): void {
    const table = this.#table
    let sum = 0
    for (let at = 2 * from; at < 2 * to; at += 2) sum ^= table[2 * this.#slotOf(keys[at]!, keys[at + 1]!)]!
    const evictions = Math.min(this.#size, this.#size + to - from - this.#keysMax)
    for (let back = 0; back < evictions; back++) {
      const at = this.#slotOfRing(this.#added - this.#size + back)
      sum ^= table[2 * this.#slotOf(this.#ring[at]!, this.#ring[at + 1]!)]!
    }
    this.#touched ^= sum
  }

  /** Makes the first `added` keys ever added stay; what was added after them can still be taken back. */
  commit(added: number): void {
    this.#revocable = this.#added - added
    const evictions = Math.min(this.#evicted.length, 2 * this.#revocable)
    if (evictions < this.#evicted.length)
      this.#evicted = this.#evicted.slice(this.#evicted.length - evictions)
  }

  /** Takes back everything added since the last commit. */
  rollback(): void {
    const evictedCount = this.#evicted.length / 2
    // The window was filled up by the first adds and evicted one key for each of the rest.
    for (let back = 0; back < this.#revocable; back++) {
      this.#added--
      this.#size--
      const at = this.#slotOfRing(this.#added)
      this.#remove(this.#ring[at]!, this.#ring[at + 1]!)
      if (back >= evictedCount) continue
      const high = this.#evicted.pop()!
      const low = this.#evicted.pop()!
      this.#insert(low, high)
      this.#ring[at] = low
      this.#ring[at + 1] = high
      this.#size++
    }
    this.#revocable = 0
  }

  /** The newest `count` keys, oldest first, two words each. */
  newest(count: number): Uint32Array<ArrayBuffer> {
    assert(count <= this.#size, 'no more keys are asked for than the window holds')
    const keys = new Uint32Array(2 * count)
    for (let i = 0; i < count; i++) {
      const at = this.#slotOfRing(this.#added - count + i)
      keys[2 * i] = this.#ring[at]!
      keys[2 * i + 1] = this.#ring[at + 1]!
    }
    return keys
  }

  /** Where the key number `added` stands: the ring wraps only once it has its full length. */
  #slotOfRing(added: number): number {
    return 2 * (added % this.#keysMax)
  }

  #writeRing(added: number, low: number, high: number): void {
    const at = this.#slotOfRing(added)
    this.#ring[at] = low
    this.#ring[at + 1] = high
  }

  #evictOldest(): void {
    const at = this.#slotOfRing(this.#added - this.#size)
    const low = this.#ring[at]!
    const high = this.#ring[at + 1]!
    this.#remove(low, high)
    this.#evicted.push(low, high)
    this.#size--
  }

  #makeRoom(): void {
    if (2 * this.#size === this.#ring.length) {
      const ring = new Uint32Array(Math.min(2 * this.#keysMax, 2 * this.#ring.length))
      ring.set(this.#ring)
      this.#ring = ring
    }
    if (this.#size + 1 <= 0.75 * (this.#mask + 1)) return
    const old = this.#table
    this.#table = new Uint32Array(2 * old.length)
    this.#mask = 2 * this.#mask + 1
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== 0 || old[at + 1] !== 0) this.#insert(old[at]!, old[at + 1]!)
    }
  }

  #slotOf(low: number, high: number): number {
    return ((Math.imul(low, 0x9e3779b1) ^ high) >>> 0) & this.#mask
  }

  /** Index of the key in the table, or −1. */
  #find(low: number, high: number): number {
    const table = this.#table
    const mask = this.#mask
    for (let slot = this.#slotOf(low, high); ; slot = (slot + 1) & mask) {
      const first = table[2 * slot]!
      const second = table[2 * slot + 1]!
      if (first === low && second === high) return slot
      if (first === 0 && second === 0) return -1
    }
  }

  #insert(low: number, high: number): void {
    const table = this.#table
    const mask = this.#mask
    let slot = this.#slotOf(low, high)
    while (table[2 * slot] !== 0 || table[2 * slot + 1] !== 0) slot = (slot + 1) & mask
    table[2 * slot] = low
    table[2 * slot + 1] = high
  }

  /** Frees the key's slot and moves later keys of the same run back over it, so that no search ends too early. */
  #remove(low: number, high: number): void {
    const table = this.#table
    const mask = this.#mask
    let free = this.#find(low, high)
    assert(free >= 0, 'every key of the ring is in the table')
    for (let slot = (free + 1) & mask; ; slot = (slot + 1) & mask) {
      const first = table[2 * slot]!
      const second = table[2 * slot + 1]!
      if (first === 0 && second === 0) break
      const home = this.#slotOf(first, second)
      // The key may move to the free slot unless its home lies after that slot, up to where it stands now.
      if (((slot - home) & mask) < ((slot - free) & mask)) continue
      table[2 * free] = first
      table[2 * free + 1] = second
      free = slot
    }
    table[2 * free] = 0
    table[2 * free + 1] = 0
  }
}
