// Texts too long for a slot (row-values.ts), in DuckDB's memory: slots hold the addresses of such texts, and whoever
// writes a slot must know where DuckDB has the text. A stretch of a batch with many of them is copied by one call, and
// the slot that DuckDB writes for the copy tells its address; where in the copy a text stands, follows.
//
// The copies belong to a vector of this heap, and last until `clear`: longer than any chunk whose slots lead to them.
// What a slot looks like is `duckdb_string_t` of DuckDB's C interface.
//
// A call for each text instead takes 0.3 µs for it, twice or three times an event.

import { isUtf8 } from 'node:buffer'
import { BLOB, DuckDBDataChunk } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { type Copied, slotWords } from './row-values.ts'

const slotBytes = slotWords * 4
/** DuckDB's vectors hold no more. */
const slotsMax = 2048

export class TextHeap {
  readonly #chunk = DuckDBDataChunk.create([BLOB])
  #vector = duckdb.data_chunk_get_vector(this.#chunk.chunk, 0)
  /** Addresses of the first copies; those of the others are still in their slots. */
  #addresses: number[] = []
  #slots = 0

  /**
   * Copies `start` to `end`, exclusive, of `bytes`: more than a slot holds. Returns null when they are not UTF-8;
   * whether each text in them begins and ends between two characters is for `writeSlots` to see.
   */
  copy(bytes: Uint8Array, start: number, end: number): Copied | null {
    const stretch = bytes.subarray(start, end)
    if (!isUtf8(stretch)) return null
    if (this.#slots === slotsMax) this.addresses()
    const number = this.#addresses.length + this.#slots
    duckdb.vector_assign_string_element_len(this.#vector, this.#slots++, stretch)
    return { start, end, number }
  }

  /**
   * The addresses of all copies by their numbers. Slots are read many at a time: it takes 1.6 µs. A copy keeps its
   * place when the slot that told it is written again.
   */
  addresses(): readonly number[] {
    const slots = duckdb.vector_get_data(this.#vector, this.#slots * slotBytes)
    const view = new DataView(slots.buffer, slots.byteOffset, slots.byteLength)
    for (let at = 0; at < slots.byteLength; at += slotBytes)
      this.#addresses.push(Number(view.getBigUint64(at + 8, true)))
    this.#slots = 0
    return this.#addresses
  }

  /** Gives the memory back. */
  clear(): void {
    this.#chunk.reset()
    this.#vector = duckdb.data_chunk_get_vector(this.#chunk.chunk, 0)
    this.#addresses = []
    this.#slots = 0
  }
}
