// The rows of one chunk as DuckDB holds them, made in plain memory: columns of fixed width and slots of texts
// (row-values.ts); what does not fit its slot is in DuckDB's (text-heap.ts). A statement takes them (row-insert.ts).
//
// CPU µs an event, 1.2 KB events (1.1 KB of properties), transactions of two row groups, DuckDB 1.5.6, Node 20.20.2, a
// machine that others use too, in turn, medians of three:              until the commit   with it
//   DuckDB's appender, a call for each long text                              3.7           7.3
//   DuckDB's appender, texts copied many at a time                            2.4           5.9
//   the statement                                                             1.6           5.1
// What is left is zstd, in the commit, and two copies of each text.
//
// Properties are not parsed a second time, which would take 2 µs more: capture has parsed every byte of them, and the
// tests hold what it lets in against what DuckDB can read. Texts are checked to be UTF-8.

import {
  BIGINT,
  BOOLEAN,
  type DuckDBDataChunk,
  type DuckDBType,
  DuckDBVarCharType,
  INTEGER,
  TIMESTAMPTZ,
  UINTEGER,
  UTINYINT,
  UUID,
  VARCHAR,
} from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { type EventBatch, EventFlag } from '../capture/event-batch.ts'
import { type TextColumn, valueSize } from '../capture/text-column.ts'
import type { Position } from '../journal/journal.ts'
import {
  addressSlots,
  type Copied,
  repeatInteger,
  stretchOf,
  writeIds,
  writeIntegers,
  writeSlots,
} from './row-values.ts'
import { TextHeap } from './text-heap.ts'

/** DuckDB's chunks hold no more. */
export const chunkRowsMax = 2048
/** A chunk holds no more text than this, once it has one row. */
export const chunkTextBytesMax = 8 * 1024 * 1024

/** The columns of the table `event`, in its order. */
const columns = {
  projectId: { type: INTEGER, size: 4 },
  uuid: { type: UUID, size: 16 },
  event: { type: VARCHAR, size: 16 },
  distinctId: { type: VARCHAR, size: 16 },
  bornId: { type: UUID, size: 16 },
  timestamp: { type: TIMESTAMPTZ, size: 8 },
  receivedAt: { type: TIMESTAMPTZ, size: 8 },
  // Text that says it is JSON is taken as it is.
  properties: { type: DuckDBVarCharType.create('JSON'), size: 16 },
  elementsChain: { type: VARCHAR, size: 16 },
  historical: { type: BOOLEAN, size: 1 },
  anonymous: { type: BOOLEAN, size: 1 },
  lane: { type: UTINYINT, size: 1 },
  position: { type: BIGINT, size: 8 },
  index: { type: UINTEGER, size: 4 },
} as const
type ColumnName = keyof typeof columns
const columnNames = Object.keys(columns) as ColumnName[] // the keys of the constant above

/** The columns with their types in DuckDB. */
export const columnTypes: readonly (readonly [string, DuckDBType])[] = columnNames.map((name) => [
  name,
  columns[name].type,
])

const textColumns = ['event', 'distinctId', 'properties', 'elementsChain'] as const

/** What is copied while nothing is. */
const nothing: Copied = { start: 0, end: 0, number: 0 }

/** A column's values as they are copied into its vector; both are views on the same memory. */
interface Cells {
  readonly words: Uint32Array
  readonly bytes: Uint8Array
}

/** Collects rows until they are inserted; its memory is used again. */
export class RowChunk {
  #rows = 0
  #textBytes = 0
  readonly #cells = Object.fromEntries(columnNames.map((name) => [name, cellsOf(name)])) as Record<
    ColumnName,
    Cells
  > // one of each name of the constant
  readonly #heap = new TextHeap()

  get rows(): number {
    return this.#rows
  }

  /** How many of the events `from` to `to` still fit: at least one when the chunk is empty. */
  fitting(batch: EventBatch, from: number, to: number): number {
    const end = Math.min(to, from + chunkRowsMax - this.#rows)
    const bytesMax = chunkTextBytesMax - this.#textBytes
    let bytes = 0
    let last = from
    while (last < end) {
      bytes += eventTextBytes(batch, last)
      if (bytes > bytesMax) break
      last++
    }
    return last === from && this.#rows === 0 ? 1 : last - from
  }

  /** Takes the events `from` to `to`, exclusive, of the record at `position`, all of which must fit. */
  append(batch: EventBatch, position: Position, lane: number, from: number, to: number): void {
    const { header, text } = batch
    const cells = this.#cells
    const row = this.#rows
    const count = to - from
    const end = row + count
    cells.projectId.words.fill(header.projectId, row, end)
    writeIds(cells.uuid.words, row, batch.uuids.subarray(from * 16, to * 16))
    // Most ids stand in the properties, too.
    const properties = this.#setTexts('properties', text.properties, row, from, to, nothing)
    this.#setTexts('event', text.event, row, from, to, properties)
    this.#setTexts('distinctId', text.distinctId, row, from, to, properties)
    this.#setTexts('elementsChain', text.elementsChain, row, from, to, properties)
    writeIds(cells.bornId.words, row, batch.bornIds.subarray(from * 16, to * 16))
    writeIntegers(cells.timestamp.words, row, batch.timestamps.subarray(from, to))
    repeatInteger(cells.receivedAt.words, row, header.receivedAtMs * 1000, count)
    cells.historical.bytes.fill(header.historical ? 1 : 0, row, end)
    cells.lane.bytes.fill(lane, row, end)
    repeatInteger(cells.position.words, row, position, count)
    const anonymous = cells.anonymous.bytes
    const indexes = cells.index.words
    for (let i = from, at = row; i < to; i++, at++) {
      anonymous[at] = (batch.flags[i]! & EventFlag.anonymous) === 0 ? 0 : 1
      indexes[at] = i
      this.#textBytes += eventTextBytes(batch, i)
    }
    this.#rows = end
  }

  /** Copies the rows into `chunk`, once. Long texts stay where they are: `chunk` must be done with before `clear`. */
  copyTo(chunk: DuckDBDataChunk): void {
    const addresses = this.#heap.addresses()
    for (const name of textColumns) addressSlots(this.#cells[name].words, this.#rows, addresses)
    for (const [index, name] of columnNames.entries()) {
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, index)
      const { bytes } = this.#cells[name]
      duckdb.copy_data_to_vector(vector, 0, bufferOf(bytes), 0, columns[name].size * this.#rows)
    }
    chunk.rowCount = this.#rows
  }

  clear(): void {
    this.#rows = 0
    this.#textBytes = 0
    this.#heap.clear()
  }

  /**
   * Writes the slots of the values `from` to `to`, from row `row` on. Texts too long for them are copied, but for those
   * in `copied`. Returns the copy when it is one.
   */
  #setTexts(
    name: ColumnName,
    column: TextColumn,
    row: number,
    from: number,
    to: number,
    copied: Copied,
  ): Copied {
    const own = this.#copyStretch(column, from, to, copied)
    if (own === null && to - from > 1) {
      const middle = (from + to) >>> 1
      this.#setTexts(name, column, row, from, middle, copied)
      this.#setTexts(name, column, row + middle - from, middle, to, copied)
      return copied
    }
    if (own === null || !writeSlots(this.#cells[name].words, row, column, from, to, own, copied))
      throw new Error(notUtf8(name))
    return own
  }

  /**
   * Copies the stretch of the values `from` to `to` that needs it, and returns `copied` when none does. Null when it is
   * to be halved: it is mostly others' texts, and no sender shall have texts copied over and over, or it is not UTF-8,
   * which what lies between two columns of text need not be.
   */
  #copyStretch(column: TextColumn, from: number, to: number, copied: Copied): Copied | null {
    const { start, end, bytes } = stretchOf(column, from, to, copied)
    if (bytes === 0) return copied
    return end - start > bytes * 2 ? null : this.#heap.copy(column.bytes, start, end)
  }
}

/** Bytes of text that event `index` brings into its row. */
export function eventTextBytes({ text }: EventBatch, index: number): number {
  return (
    valueSize(text.event, index) +
    valueSize(text.distinctId, index) +
    valueSize(text.properties, index) +
    valueSize(text.elementsChain, index)
  )
}

function cellsOf(name: ColumnName): Cells {
  const memory = new ArrayBuffer(chunkRowsMax * columns[name].size)
  return { words: new Uint32Array(memory), bytes: new Uint8Array(memory) }
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.buffer as ArrayBuffer // made in cellsOf
}

function notUtf8(name: ColumnName): string {
  return `Invalid Input Error: a text of ${name} is not UTF-8`
}
