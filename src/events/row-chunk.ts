// The rows of one chunk, in DuckDB's own memory: columns of fixed width are copied over as they are, texts one by one.
// The chunk goes to DuckDB's appender, past its SQL.
//
// Measured with 1.2 KB events (1.1 KB of properties), DuckDB 1.5.6, Node 20.20.2, two cores that others use too, CPU
// µs per event with commit and checkpoint, medians of three in turn:
//                                                               one row group    8,192 rows
//                                                               a transaction   a transaction
//   a chunk                                                          8.8            10.5
//   each column one text, which SQL splits, unnests and casts       12.2            14.4
// What is left is zstd and the copies that DuckDB makes of the texts.
//
// Properties are not parsed a second time, which would take 2 µs more: capture has parsed every byte of them, and the
// tests hold what it lets in against what DuckDB can read. Texts are checked to be UTF-8: the long ones by DuckDB as it
// copies them, those in slots here.

import { isUtf8 } from 'node:buffer'
import {
  BIGINT,
  BOOLEAN,
  type DuckDBAppender,
  DuckDBDataChunk,
  INTEGER,
  TIMESTAMPTZ,
  UINTEGER,
  UTINYINT,
  UUID,
  VARCHAR,
} from '@duckdb/node-api'
import duckdb, { type Vector } from '@duckdb/node-bindings'
import { type EventBatch, EventFlag, type TextColumn, valueBytes } from '../capture/event-batch.ts'
import type { Position } from '../journal/journal.ts'
import {
  repeatInteger,
  slotTextBytesMax,
  slotWords,
  writeIds,
  writeIntegers,
  writeSlots,
} from './row-values.ts'

/** DuckDB's chunks hold no more. */
export const chunkRowsMax = 2048
/** A chunk holds no more text than this, once it has one row. */
export const chunkTextBytesMax = 8 * 1024 * 1024

/** The columns of the table `event`, in its order. Its JSON is text, and DuckDB takes it as it is. */
const columns = {
  projectId: { type: INTEGER, size: 4 },
  uuid: { type: UUID, size: 16 },
  event: { type: VARCHAR, size: 16 },
  distinctId: { type: VARCHAR, size: 16 },
  bornId: { type: UUID, size: 16 },
  timestamp: { type: TIMESTAMPTZ, size: 8 },
  receivedAt: { type: TIMESTAMPTZ, size: 8 },
  properties: { type: VARCHAR, size: 16 },
  elementsChain: { type: VARCHAR, size: 16 },
  historical: { type: BOOLEAN, size: 1 },
  anonymous: { type: BOOLEAN, size: 1 },
  lane: { type: UTINYINT, size: 1 },
  position: { type: BIGINT, size: 8 },
  index: { type: UINTEGER, size: 4 },
} as const
type ColumnName = keyof typeof columns
const columnNames = Object.keys(columns) as ColumnName[] // the keys of the constant above

const fixedColumns = columnNames.filter((name) => columns[name].type !== VARCHAR)
const textColumns = columnNames.filter((name) => columns[name].type === VARCHAR)

/** A column's values as they are copied into its vector; both are views on the same memory. */
interface Cells {
  readonly words: Uint32Array
  readonly bytes: Uint8Array
}

/** Collects rows until they are appended; its memory is used again. */
export class RowChunk {
  #rows = 0
  #textBytes = 0
  readonly #chunk = DuckDBDataChunk.create(columnNames.map((name) => columns[name].type))
  readonly #cells = Object.fromEntries(columnNames.map((name) => [name, cellsOf(name)])) as Record<
    ColumnName,
    Cells
  > // one of each name of the constant
  #vectors = this.#emptyVectors()

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
    this.#setTexts('event', text.event, from, to)
    this.#setTexts('distinctId', text.distinctId, from, to)
    writeIds(cells.bornId.words, row, batch.bornIds.subarray(from * 16, to * 16))
    writeIntegers(cells.timestamp.words, row, batch.timestamps.subarray(from, to))
    repeatInteger(cells.receivedAt.words, row, header.receivedAtMs * 1000, count)
    this.#setTexts('properties', text.properties, from, to)
    this.#setTexts('elementsChain', text.elementsChain, from, to)
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

  /** Hands the rows to `appender`, and is empty. Errors: DuckDB's; `appender` must be cleared then. */
  appendTo(appender: DuckDBAppender): void {
    for (const name of fixedColumns) {
      const { bytes } = this.#cells[name]
      duckdb.copy_data_to_vector(this.#vectors[name], 0, bufferOf(bytes), 0, columns[name].size * this.#rows)
    }
    this.#chunk.rowCount = this.#rows
    try {
      this.#checkSlots()
      appender.appendDataChunk(this.#chunk)
      appender.flushSync()
    } finally {
      this.clear()
    }
  }

  clear(): void {
    this.#rows = 0
    this.#textBytes = 0
    this.#vectors = this.#emptyVectors()
  }

  /** Texts that fit their slots are copied over with them; the others are given to DuckDB, which copies each. */
  #setTexts(name: ColumnName, column: TextColumn, from: number, to: number): void {
    const { words, bytes } = this.#cells[name]
    const vector = this.#vectors[name]
    const row = this.#rows
    const longer = writeSlots(words, row, column, from, to)
    const slotBytes = slotWords * 4
    if (longer < to - from)
      duckdb.copy_data_to_vector(
        vector,
        row * slotBytes,
        bufferOf(bytes),
        row * slotBytes,
        (to - from) * slotBytes,
      )
    if (longer === 0) return
    const { spans } = column
    for (let i = from; i < to; i++) {
      if (spans[i * 2 + 1]! - spans[i * 2]! > slotTextBytesMax)
        duckdb.vector_assign_string_element_len(vector, row + i - from, valueBytes(column, i))
    }
  }

  /**
   * Fails for a text in a slot that is not UTF-8. DuckDB would see it only while all texts before it in its segment are
   * ASCII, and a function that reads such a text invalidates the whole instance. Lengths and zeros are ASCII, too: the
   * slots of a column are UTF-8 when each of their texts is.
   */
  #checkSlots(): void {
    for (const name of textColumns) {
      const slots = this.#cells[name].bytes.subarray(0, this.#rows * columns[name].size)
      if (!isUtf8(slots)) throw new Error(`Invalid Input Error: a text of ${name} is not UTF-8`)
    }
  }

  /** Gives the texts' memory back, and finds where the columns are now. */
  #emptyVectors(): Record<ColumnName, Vector> {
    this.#chunk.reset()
    const { chunk } = this.#chunk
    return Object.fromEntries(
      columnNames.map((name, index) => [name, duckdb.data_chunk_get_vector(chunk, index)]),
    ) as Record<ColumnName, Vector> // one of each name of the constant
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

function valueSize({ spans }: TextColumn, index: number): number {
  return spans[index * 2 + 1]! - spans[index * 2]!
}

function cellsOf(name: ColumnName): Cells {
  const memory = new ArrayBuffer(chunkRowsMax * columns[name].size)
  return { words: new Uint32Array(memory), bytes: new Uint8Array(memory) }
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.buffer as ArrayBuffer // made in cellsOf
}
