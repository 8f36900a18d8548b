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

export class TextHeap {
  readonly #chunk = DuckDBDataChunk.create([BLOB])

  /**
   * Copies `start` to `end`, exclusive, of `bytes`: more than a slot holds. Fails when they are not UTF-8; whether each
   * text in them begins and ends between two characters is for `writeSlots` to see.
   */
  copy(bytes: Uint8Array, start: number, end: number): Copied {
    const stretch = bytes.subarray(start, end)
    if (!isUtf8(stretch)) throw new Error('Invalid Input Error: a text is not UTF-8')
    // A copy keeps its place when the slot it was told by is written again.
    const vector = duckdb.data_chunk_get_vector(this.#chunk.chunk, 0)
    duckdb.vector_assign_string_element_len(vector, 0, stretch)
    const slot = duckdb.vector_get_data(vector, slotBytes)
    const view = new DataView(slot.buffer, slot.byteOffset, slotBytes)
    return { start, end, address: Number(view.getBigUint64(8, true)) }
  }

  /** Gives the memory back. */
  clear(): void {
    this.#chunk.reset()
  }
}
