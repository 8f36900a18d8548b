// Remembers the born ids of distinct_ids: the same few senders fill most batches, and a SHA-1 costs as much as half
// the scan of an event. Direct-mapped: a newcomer takes the place of whoever had it.

import { writeBornId } from '../lib/uuid.ts'

const slotCount = 4096
/** Longer ids are derived each time. Most ids are a UUID's 36 bytes or less. */
const idBytesMax = 46
const slotSize = idBytesMax + 2 + 16

export class BornIds {
  /** In each slot the id, its length in the last byte but 16, and the born id. */
  readonly #slots = new Uint8Array(slotCount * slotSize)
  /** Project of each slot's id; 0 for an empty slot, as projects count from 1. */
  readonly #projects = new Int32Array(slotCount)

  /** Writes the born id of distinctId[start, end) to `target` at `at`. */
  write(
    projectId: number,
    distinctId: Uint8Array,
    start: number,
    end: number,
    target: Uint8Array,
    at: number,
  ): void {
    const length = end - start
    if (length > idBytesMax) {
      writeBornId(projectId, distinctId, start, end, target, at)
      return
    }
    let hash = projectId
    for (let from = start; from < end; from++) hash = Math.imul(hash ^ distinctId[from]!, 0x01000193)
    const slot = (hash ^ (hash >>> 15)) & (slotCount - 1)
    const base = slot * slotSize
    const idAt = base + slotSize - 16
    if (!this.#holds(slot, projectId, distinctId, start, length)) {
      writeBornId(projectId, distinctId, start, end, this.#slots, idAt)
      for (let index = 0; index < length; index++) this.#slots[base + index] = distinctId[start + index]!
      this.#slots[idAt - 1] = length
      this.#projects[slot] = projectId
    }
    for (let index = 0; index < 16; index++) target[at + index] = this.#slots[idAt + index]!
  }

  #holds(slot: number, projectId: number, distinctId: Uint8Array, start: number, length: number): boolean {
    const base = slot * slotSize
    if (this.#projects[slot] !== projectId || this.#slots[base + slotSize - 17] !== length) return false
    for (let index = 0; index < length; index++) {
      if (this.#slots[base + index] !== distinctId[start + index]) return false
    }
    return true
  }
}
