// Remembers the born ids of distinct_ids: senders come back, and a SHA-1 costs as much as half the scan of an event.
// An id has two slots: a newcomer takes the first, whose owner moves to the second. A thread has 1 MiB of them: of
// 5,000 senders who come at random 99 % are found; with a quarter of the slots 63 %.

import { writeBornId } from '../lib/uuid.ts'
import {
  bornIdWord,
  bornSlotCount,
  idSizeWord,
  idWords,
  projectWord,
  bornSlotWords as slotWords,
} from './run-layout.ts'
import type { TextArena } from './text-arena.ts'

/** Longer ids are derived each time. Most ids are a UUID's 36 bytes or less. */
const idBytesMax = idWords * 4

export class BornIds {
  /** A slot whose project is 0 is empty, as projects count from 1. */
  readonly #slots: Int32Array
  /** The same bytes. */
  readonly #bytes: Uint8Array
  /** What a slot of the id in question begins with. */
  readonly #wanted = new Int32Array(bornIdWord)

  /** Remembers them in `slots`, which are a run's, whose records are told of them (event-facts). */
  constructor(slots: Int32Array) {
    this.#slots = slots
    this.#bytes = new Uint8Array(slots.buffer, slots.byteOffset, slots.byteLength)
  }

  /** Writes the born id of the value that `id` holds last to words of `target`, from `at` on. */
  write(projectId: number, id: TextArena, target: Int32Array, at: number): void {
    const { bytes, valueStart, size } = id
    if (size - valueStart > idBytesMax) {
      writeBornId(projectId, bytes, valueStart, size, new Uint8Array(target.buffer), at * 4)
      return
    }
    const slots = this.#slots
    const first = (this.#want(projectId, id) & (bornSlotCount - 2)) * slotWords
    const second = first + slotWords
    let slot = first
    if (!this.#isWanted(first)) {
      if (this.#isWanted(second)) slot = second
      else {
        slots.copyWithin(second, first, second)
        slots.set(this.#wanted, first)
        writeBornId(projectId, bytes, valueStart, size, this.#bytes, (first + bornIdWord) * 4)
      }
    }
    const from = slot + bornIdWord
    target[at] = slots[from]!
    target[at + 1] = slots[from + 1]!
    target[at + 2] = slots[from + 2]!
    target[at + 3] = slots[from + 3]!
  }

  /** Notes what is wanted, and returns a hash of it. */
  #want(projectId: number, { view, valueStart, size }: TextArena): number {
    const wanted = this.#wanted
    let hash = projectId
    let index = 0
    for (let place = valueStart; place < size; place += 4) {
      let word = 0
      if (place + 4 <= size) word = view.getInt32(place, true)
      else for (let last = size - 1; last >= place; last--) word = (word << 8) | view.getUint8(last)
      wanted[index++] = word
      hash = Math.imul(hash ^ word, 0x9e3779b1)
      hash ^= hash >>> 15
    }
    while (index < idWords) wanted[index++] = 0
    wanted[idSizeWord] = size - valueStart
    wanted[projectWord] = projectId
    return hash
  }

  #isWanted(slot: number): boolean {
    const slots = this.#slots
    const wanted = this.#wanted
    for (let index = bornIdWord - 1; index >= 0; index--)
      if (slots[slot + index] !== wanted[index]) return false
    return true
  }
}
