// Runs SQL that people wrote, once it has been rewritten to their own rows (src/query/): a bounded answer, and errors
// that are theirs to read.

import {
  type DuckDBConnection,
  DuckDBTypeId,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
  StatementType,
} from '@duckdb/node-api'
import { ServiceError } from '../errors.ts'
import { clickHouseType } from './clickhouse-type.ts'
import { messageOf, shortMessage } from './failure.ts'
import { shownName } from './shown-name.ts'

export interface SelectTask {
  readonly kind: 'select'
  /** By which it can be cancelled. */
  readonly id: number
  readonly sql: string
  /** Rows beyond it are not read. */
  readonly rowsMax: number
  readonly limits: SelectLimits
}

export interface SelectLimits {
  /** A query that takes longer is interrupted. */
  readonly msMax: number
  /** So is one while which the process grows by more: DuckDB's own limit does not cover the texts of a result. */
  readonly memoryBytesMax: number
}

export interface Selected {
  readonly columns: readonly string[]
  /** ClickHouse's names. */
  readonly types: readonly string[]
  /** A JSON array with an array for each row; whole numbers beyond 2^53 are text, moments are ISO 8601. */
  readonly rowsText: string
  readonly rowCount: number
  /** True when there were more rows than asked for. */
  readonly hasMore: boolean
}

/** Text or file of an answer at most. */
export const selectBytesMax = 32 * 1024 * 1024

/**
 * Errors: invalid_input for a query that DuckDB refuses, or whose answer is too large; those of `Readers.run`.
 */
export async function runSelect(connection: DuckDBConnection, task: SelectTask): Promise<Selected> {
  try {
    return await select(connection, task)
  } catch (error) {
    throw await errorOf(connection, error)
  }
}

async function select(connection: DuckDBConnection, { sql, rowsMax }: SelectTask): Promise<Selected> {
  const statement = await connection.prepare(sql)
  try {
    if (statement.statementType !== StatementType.SELECT)
      throw new ServiceError('invalid_input', { detail: 'expected one SELECT statement' })
    const result = await statement.stream()
    const texts: string[] = []
    let bytes = 0
    let hasMore = false
    while (!hasMore) {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) break
      hasMore = chunk.rowCount > rowsMax - texts.length
      for (const row of chunk.convertRows(toJson).slice(0, rowsMax - texts.length)) {
        const text = JSON.stringify(row)
        bytes += text.length
        if (bytes > selectBytesMax) throw tooLarge()
        texts.push(text)
      }
    }
    return {
      columns: result.columnNames().map(shownName),
      types: result.columnTypes().map(clickHouseType),
      rowsText: `[${texts.join(',')}]`,
      rowCount: texts.length,
      hasMore,
    }
  } finally {
    statement.destroySync()
  }
}

const exactDigitsMax = 15

const toJson: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  if (value === null) return null
  if (type.typeId === DuckDBTypeId.DECIMAL) {
    const text = String(value)
    return text.replace(/\D/g, '').length <= exactDigitsMax ? Number(text) : text
  }
  // "2024-05-01 12:00:00.5+00"
  if (type.typeId === DuckDBTypeId.TIMESTAMP_TZ) return String(value).replace(' ', 'T').replace(/\+00$/, 'Z')
  return JsonDuckDBValueConverter(value, type, converter)
}

/** What DuckDB says is wrong with the query is the caller's to know; everything else passes through. */
export async function errorOf(connection: DuckDBConnection, error: unknown): Promise<unknown> {
  const message = messageOf(error)
  if (
    /^(Binder|Catalog|Parser|Conversion|Invalid Input|Invalid Type|Out of Range|Not implemented)/i.test(
      message,
    )
  ) {
    return new ServiceError('invalid_input', { detail: shortMessage(error), cause: error })
  }
  // A fault of DuckDB that a query has met costs that query, as long as the instance goes on.
  if (/^INTERNAL Error/.test(message) && (await isAlive(connection))) {
    return new ServiceError('invalid_input', { detail: 'DuckDB failed to run this query.', cause: error })
  }
  return error
}

async function isAlive(connection: DuckDBConnection): Promise<boolean> {
  try {
    await connection.run('select count(*) from event where false')
    return true
  } catch {
    // Whatever it says, the error that brought us here says it better.
    return false
  }
}

export function tooLarge(): ServiceError {
  const detail = `The answer is larger than ${selectBytesMax / 1024 / 1024} MiB: select less, or fewer rows.`
  return new ServiceError('invalid_input', { detail })
}
