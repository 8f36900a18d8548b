// Loads events into DuckDB inside the transaction of the step, in journal order.
//
// Rows travel as texts (bulk.ts): one BLOB parameter a column, split and unnested there. What cannot travel that way
// goes alone, value by value: an event that holds the separator byte, and an event so large that copying it into a
// text would not pay. The order stays: the bulk before it is loaded first.
//
// From the journal to committed rows, events of 1.1 KB, DuckDB 1.5.6, Node 20.20.2, two cores that others use too: a
// row group (122,880 rows) takes 0.66–0.78 s and 6.2–7.3 µs of CPU an event; 148–160 bytes an event after the
// checkpoint.
//
// Every parameter is bound with exactly the type that its cast names. With any other, DuckDB plans the statement again
// for each execution and folds the texts into constants: 8.0 instead of 3.5 µs of CPU an event, before the commit.

import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { type EventBatch, EventFlag, type TextColumn } from '../capture/event-batch.ts'
import { laneNumbers } from '../consumer/offset.ts'
import type { JournalRecord, Lane } from '../journal/journal.ts'
import { formatUuid } from '../lib/uuid.ts'
import { Bulk, bulkRowsMax, eventTextBytes } from './bulk.ts'

/** An event with more text is loaded alone. */
export const aloneBytesMin = 4 * 1024 * 1024

/** What became of a stretch of events. */
export interface Loaded {
  /** The first event that was not looked at. */
  readonly next: number
  readonly rows: number
  readonly duplicates: number
}

const split = (parameter: number) => `unnest(string_split(decode($${parameter}::blob), chr(30)))`

const bulkSql = `
  insert into event
  select project_id::integer, uuid::uuid, event, distinct_id, born_id::uuid, make_timestamptz(happened_at::bigint),
    make_timestamptz(received_at::bigint), properties, elements_chain, flags in ('2', '3'), flags in ('1', '3'),
    $13::utinyint, position::bigint, index::uinteger
  from (
    select ${split(1)} as project_id, ${split(2)} as uuid, ${split(3)} as event, ${split(4)} as distinct_id,
      ${split(5)} as born_id, ${split(6)} as happened_at, ${split(7)} as received_at, ${split(8)} as properties,
      ${split(9)} as elements_chain, ${split(10)} as flags, ${split(11)} as position, ${split(12)} as index
  )`

const aloneSql = `
  insert into event
  select $1::integer, $2::uuid, decode($3::blob), decode($4::blob), $5::uuid, make_timestamptz($6::bigint),
    make_timestamptz($7::bigint), decode($8::blob), decode($9::blob), $10::boolean, $11::boolean, $12::utinyint,
    $13::bigint, $14::uinteger`

export class Loader {
  readonly #bulkStatement: DuckDBPreparedStatement
  readonly #aloneStatement: DuckDBPreparedStatement
  readonly #bulk = new Bulk()

  private constructor(bulkStatement: DuckDBPreparedStatement, aloneStatement: DuckDBPreparedStatement) {
    this.#bulkStatement = bulkStatement
    this.#aloneStatement = aloneStatement
  }

  static async open(connection: DuckDBConnection): Promise<Loader> {
    return new Loader(await connection.prepare(bulkSql), await connection.prepare(aloneSql))
  }

  /**
   * Loads events of `record` from event `from` on, at most `rowsMax` rows; duplicates are passed over. A single
   * row always goes alone, so that an error is surely its own. What is loaded may still wait in the bulk: call `flush`
   * before the transaction ends or the lane changes.
   * Errors: DuckDB's, with the bulk in disorder: call `discard`.
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
        await this.flush(lane)
        await this.#loadAlone(lane, record, batch, at)
        rows++
        at++
      } else {
        const end = runEnd(record, batch, at, Math.min(rowsMax - rows, bulkRowsMax))
        const count = this.#bulk.fitting(batch, at, end)
        if (count > 0) this.#bulk.append(batch, record.position, at, at + count)
        rows += count
        at += count
        if (at < end || this.#bulk.rows === bulkRowsMax) await this.flush(lane)
      }
    }
    while (at < record.eventCount && isDuplicate(record, at)) at++
    return { next: at, rows, duplicates: at - from - rows }
  }

  /** Loads what waits in the bulk. */
  async flush(lane: Lane): Promise<void> {
    if (this.#bulk.rows === 0) return
    const statement = this.#bulkStatement
    for (const [column, text] of this.#bulk.texts().entries()) statement.bindBlob(column + 1, text)
    statement.bindUTinyInt(13, laneNumbers[lane])
    this.#bulk.clear()
    await statement.run()
  }

  /** Forgets what waits in the bulk, after an error. */
  discard(): void {
    this.#bulk.clear()
  }

  close(): void {
    this.#bulkStatement.destroySync()
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

/** The bytes of value `index` of a text column. */
export function valueBytes(column: TextColumn, index: number): Uint8Array {
  return column.bytes.subarray(index === 0 ? 0 : column.ends[index - 1]! + 1, column.ends[index]!)
}

function goesAlone(batch: EventBatch, index: number): boolean {
  if ((batch.flags[index]! & EventFlag.separator) !== 0) return true
  return eventTextBytes(batch, index) > aloneBytesMin
}

/** End of the run of events from `from` on that can share a text. */
function runEnd(record: JournalRecord, batch: EventBatch, from: number, countMax: number): number {
  const endMax = Math.min(record.eventCount, from + countMax)
  let end = from + 1
  while (end < endMax && !isDuplicate(record, end) && !goesAlone(batch, end)) end++
  return end
}
