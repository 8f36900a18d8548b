// Writes what a SELECT returns into a file, for exports: columns in few plain types, whatever the SELECT has.
//
//   ours        parquet            jsonl                      csv
//   text        text               text                       text
//   json        text, as stored    a value of its own         text, as stored
//   timestamp   µs in UTC          ISO 8601, six digits, Z    the same
//   uuid        text               text                       text
//   bigint, double, boolean: as they are
//
// The file lies in a folder below the one that openStore allows: DuckDB refuses to write anywhere else.

import { statSync } from 'node:fs'
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api'
import type { QueryValue } from './messages.ts'
import { errorOf } from './select.ts'
import { distinctName, shownName } from './shown-name.ts'

export type ExtractedType = 'text' | 'json' | 'timestamp' | 'uuid' | 'bigint' | 'double' | 'boolean'

export interface ExtractedColumn {
  readonly name: string
  readonly type: ExtractedType
}

export interface ExtractFormat {
  readonly kind: 'parquet' | 'jsonl' | 'csv'
  /** DuckDB's name; null for none. */
  readonly compression: string | null
}

export interface ExtractTask {
  readonly kind: 'extract'
  /** By which it can be cancelled. */
  readonly id: number
  /** One SELECT. */
  readonly sql: string
  readonly values: readonly QueryValue[]
  /** Written anew. */
  readonly path: string
  readonly format: ExtractFormat
}

/** As it is asked for. */
export type ExtractRequest = Omit<ExtractTask, 'kind' | 'id'>

export interface Extracted {
  readonly columns: readonly ExtractedColumn[]
  readonly rowCount: number
  /** Of the file. */
  readonly bytes: number
}

/** Of one file: the caller bounds how much it asks for. */
export const extractMsMax = 300_000
/** A row group is held in memory by each of DuckDB's threads while it is filled; events have 1 to 2 KB. */
export const rowGroupRows = 20_480

interface Described extends ExtractedColumn {
  /** True for JSON, as opposed to what is made JSON here. */
  readonly isStored: boolean
}

/** Errors: invalid_input for a query that DuckDB refuses; those of `Readers.run`. */
export async function runExtract(connection: DuckDBConnection, task: ExtractTask): Promise<Extracted> {
  const { sql, values, path, format } = task
  try {
    const columns = await describe(connection, sql)
    const fields = columns.map(
      (column, index) => `${fieldOf(`c${index}`, column, format.kind)} as ${quoteName(column.name)}`,
    )
    // Columns by their place: two of them may have one name.
    const places = columns.map((_, index) => `c${index}`).join(', ')
    const select = `select ${fields.join(', ')} from (${sql}) as extracted (${places})`
    const copy = `copy (${select}) to '${path.replaceAll("'", "''")}' (${optionsOf(format)})`
    const statement = await connection.prepare(copy)
    try {
      statement.bind([...values])
      const reader = await statement.runAndReadAll()
      return {
        columns: columns.map(({ name, type }) => ({ name, type })),
        rowCount: Number(reader.getRows()[0]?.[0]),
        bytes: statSync(path).size,
      }
    } finally {
      statement.destroySync()
    }
  } catch (error) {
    throw await errorOf(connection, error)
  }
}

async function describe(connection: DuckDBConnection, sql: string): Promise<Described[]> {
  const statement: DuckDBPreparedStatement = await connection.prepare(sql)
  try {
    const names = new Set<string>()
    return Array.from({ length: statement.columnCount }, (_, index) => ({
      name: distinctName(shownName(statement.columnName(index)), names),
      type: typeOf(statement.columnType(index)),
      isStored: statement.columnType(index).alias === 'JSON',
    }))
  } finally {
    statement.destroySync()
  }
}

function typeOf(type: DuckDBType): ExtractedType {
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return 'boolean'
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
      return 'bigint'
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
    case DuckDBTypeId.DECIMAL:
      return 'double'
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return 'timestamp'
    case DuckDBTypeId.UUID:
      return 'uuid'
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.STRUCT:
    case DuckDBTypeId.MAP:
      return 'json'
    default:
      return type.alias === 'JSON' ? 'json' : 'text'
  }
}

function fieldOf(field: string, { type, isStored }: Described, kind: ExtractFormat['kind']): string {
  switch (type) {
    case 'json':
      // JSON that is stored is text already, and stays as it was sent; only jsonl prints it anew, on one line.
      return kind === 'jsonl' ? `to_json(${field})` : `${isStored ? field : `to_json(${field})`}::varchar`
    case 'timestamp':
      // TimeZone is UTC, and fixed.
      return kind === 'parquet' ? `${field}::timestamptz` : `strftime(${field}, '%Y-%m-%dT%H:%M:%S.%fZ')`
    case 'bigint':
    case 'double':
    case 'boolean':
      return `${field}::${type}`
    case 'uuid':
    case 'text':
      return `${field}::varchar`
  }
}

function optionsOf({ kind, compression }: ExtractFormat): string {
  const packed = compression === null ? 'uncompressed' : compression
  switch (kind) {
    case 'parquet':
      return `format parquet, compression ${packed}, row_group_size ${rowGroupRows}`
    case 'jsonl':
      return `format json, compression ${compression ?? 'none'}`
    case 'csv':
      return `format csv, header, compression ${compression ?? 'none'}`
  }
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
