// Loads events into DuckDB inside the transaction of the step, in journal order.
//
// Rows travel as chunks of columns (row-chunk.ts). An event so large that it would hold others up goes alone, value by
// value, and so does every event that is suspected of an error. The order stays: the chunk before it is loaded first.

import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { type EventBatch, EventFlag } from '../capture/event-batch.ts'
import { valueBytes } from '../capture/text-column.ts'
import { laneNumbers } from '../consumer/offset.ts'
import type { JournalRecord, Lane } from '../journal/journal.ts'
import { formatUuid } from '../lib/uuid.ts'
import { chunkRowsMax, eventTextBytes, RowChunk } from './row-chunk.ts'
import { RowInsert } from './row-insert.ts'

/** An event with more text is loaded alone. */
export const aloneBytesMin = 4 * 1024 * 1024

/** What became of a stretch of events. */
export interface Loaded {
  /** The first event that was not looked at. */
  readonly next: number
  readonly rows: number
  readonly duplicates: number
}

const aloneSql = `
  insert into event
  select $1::integer, $2::uuid, decode($3::blob), decode($4::blob), $5::uuid, make_timestamptz($6::bigint),
    make_timestamptz($7::bigint), decode($8::blob), decode($9::blob), $10::boolean, $11::boolean, $12::utinyint,
    $13::bigint, $14::uinteger`

export class Loader {
  readonly #insert: RowInsert
  readonly #aloneStatement: DuckDBPreparedStatement
  readonly #chunk = new RowChunk()

  private constructor(insert: RowInsert, aloneStatement: DuckDBPreparedStatement) {
    this.#insert = insert
    this.#aloneStatement = aloneStatement
  }

  static async open(connection: DuckDBConnection): Promise<Loader> {
    return new Loader(await RowInsert.open(connection), await connection.prepare(aloneSql))
  }

  /**
   * Loads events of `record` from event `from` on, at most `rowsMax` rows; duplicates are passed over. A single
   * row always goes alone, so that an error is surely its own. What is loaded may still wait in the chunk: call
   * `flush` before the transaction ends or the lane changes.
   * Errors: DuckDB's, with the chunk in disorder: call `discard`.
   */
  async load(
    lane: Lane,
    record: JournalRecord,
    batch: EventBatch,
    from: number,
    rowsMax: number,
  ): Promise<Loaded> {
    let rows = 0
    let at = from
    while (at < record.eventCount && rows < rowsMax) {
      if (isDuplicate(record, at)) {
        at++
      } else if (rowsMax === 1 || goesAlone(batch, at)) {
        await this.flush()
        await this.#loadAlone(lane, record, batch, at)
        rows++
        at++
      } else {
        const end = runEnd(record, batch, at, Math.min(rowsMax - rows, chunkRowsMax))
        const count = this.#chunk.fitting(batch, at, end)
        if (count > 0) this.#chunk.append(batch, record.position, laneNumbers[lane], at, at + count)
        rows += count
        at += count
        if (at < end || this.#chunk.rows === chunkRowsMax) await this.flush()
      }
    }
    while (at < record.eventCount && isDuplicate(record, at)) at++
    return { next: at, rows, duplicates: at - from - rows }
  }

  /** Loads what waits in the chunk, and lets others have this thread. */
  async flush(): Promise<void> {
    if (this.#chunk.rows === 0) return
    await this.#insert.run(this.#chunk)
    this.#chunk.clear()
  }

  /** Forgets what waits in the chunk, after an error. */
  discard(): void {
    this.#chunk.clear()
  }

  close(): void {
    this.#insert.close()
    this.#aloneStatement.destroySync()
  }

  /** One event with its values bound one by one: holds whatever a column can hold. */
  async #loadAlone(lane: Lane, record: JournalRecord, batch: EventBatch, index: number): Promise<void> {
    const { header, text } = batch
    const statement = this.#aloneStatement
    statement.bindInteger(1, header.projectId)
    statement.bindVarchar(2, formatUuid(batch.uuids, index * 16))
    statement.bindBlob(3, valueBytes(text.event, index))
    statement.bindBlob(4, valueBytes(text.distinctId, index))
    statement.bindVarchar(5, formatUuid(batch.bornIds, index * 16))
    statement.bindBigInt(6, BigInt(batch.timestamps[index]!))
    statement.bindBigInt(7, BigInt(header.receivedAtMs) * 1000n)
    statement.bindBlob(8, valueBytes(text.properties, index))
    statement.bindBlob(9, valueBytes(text.elementsChain, index))
    statement.bindBoolean(10, header.historical)
    statement.bindBoolean(11, (batch.flags[index]! & EventFlag.anonymous) !== 0)
    statement.bindUTinyInt(12, laneNumbers[lane])
    statement.bindBigInt(13, BigInt(record.position))
    statement.bindUInteger(14, index)
    await statement.run()
  }
}

/** True when the journal has seen the event before. */
export function isDuplicate(record: JournalRecord, index: number): boolean {
  return record.duplicates !== null && (record.duplicates[index >> 3]! & (1 << (index & 7))) !== 0
}

function goesAlone(batch: EventBatch, index: number): boolean {
  return eventTextBytes(batch, index) > aloneBytesMin
}

/** End of the run of events from `from` on that can share a chunk. */
function runEnd(record: JournalRecord, batch: EventBatch, from: number, countMax: number): number {
  const endMax = Math.min(record.eventCount, from + countMax)
  let end = from + 1
  while (end < endMax && !isDuplicate(record, end) && !goesAlone(batch, end)) end++
  return end
}
