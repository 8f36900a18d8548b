// Runs SQL that people wrote, once it has been rewritten to their own rows (src/query/), into a Parquet file, and gives
// back its bytes. COPY is composed here alone: around that one SELECT, to a path of our own. The file is gone when the
// answer is there, and in every other case.
//
// Columns keep DuckDB's types, but for what Parquet cannot hold:
//
//   HUGEINT, which sum() is      DECIMAL(38,0); Parquet would make it a DOUBLE
//   INTERVAL                     text; Parquet's own has milliseconds and no sign
//   lists and structs of these   JSON

import { rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type DuckDBConnection, type DuckDBType, DuckDBTypeId, StatementType } from '@duckdb/node-api'
import { ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import { quoteName, rowGroupRows } from './extract.ts'
import { errorOf, type SelectLimits, selectBytesMax, tooLarge } from './select.ts'
import { distinctName, shownName } from './shown-name.ts'

export interface SelectParquetTask {
  readonly kind: 'select_parquet'
  /** By which it can be cancelled. */
  readonly id: number
  readonly sql: string
  readonly limits: SelectLimits
}

/** How often the size of the file is looked at: 20 ms of writing are a megabyte or two. */
const watchMs = 20

/**
 * Writes the rows of `sql` to `path`, in a folder that openStore allows, and returns the file.
 * Errors: invalid_input for a query that DuckDB refuses, or whose file is too large; those of `Readers.run`.
 */
export async function runSelectParquet(
  connection: DuckDBConnection,
  sql: string,
  path: string,
): Promise<Uint8Array> {
  // Once true it stays so: DuckDB removes what it could not finish.
  let isTooLarge = false
  const weigh = (): void => {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    isTooLarge ||= size > selectBytesMax
  }
  const timer = setInterval(() => {
    weigh()
    if (isTooLarge) connection.interrupt()
  }, watchMs)
  try {
    await copy(connection, await selectOf(connection, sql), path)
    weigh()
    if (isTooLarge) throw tooLarge()
    return await readFile(path)
  } catch (error) {
    throw isTooLarge ? tooLarge() : await errorOf(connection, error)
  } finally {
    clearInterval(timer)
    rmSync(path, { force: true })
  }
}

async function copy(connection: DuckDBConnection, select: string, path: string): Promise<void> {
  const options = `format parquet, compression zstd, row_group_size ${rowGroupRows}, use_tmp_file false`
  const statement = await connection.prepare(
    `copy (${select}) to '${path.replaceAll("'", "''")}' (${options})`,
  )
  try {
    assert(statement.statementType === StatementType.COPY, 'what was composed is one COPY')
    await statement.run()
  } finally {
    statement.destroySync()
  }
}

/** `sql` with each name once, and each column in a type that Parquet has. */
async function selectOf(connection: DuckDBConnection, sql: string): Promise<string> {
  const statement = await connection.prepare(sql)
  try {
    if (statement.statementType !== StatementType.SELECT)
      throw new ServiceError('invalid_input', { detail: 'expected one SELECT statement' })
    const names = new Set<string>()
    const places = Array.from({ length: statement.columnCount }, (_, index) => `c${index}`)
    const fields = places.map((place, index) => {
      const name = quoteName(distinctName(shownName(statement.columnName(index)), names))
      return `${fieldOf(place, statement.columnType(index))} as ${name}`
    })
    // Columns by their place: two of them may have one name.
    return `select ${fields.join(', ')} from (${sql}) as selected (${places.join(', ')})`
  } finally {
    statement.destroySync()
  }
}

function fieldOf(field: string, type: DuckDBType): string {
  switch (type.typeId) {
    case DuckDBTypeId.HUGEINT:
      return `${field}::decimal(38, 0)`
    case DuckDBTypeId.INTERVAL:
      return `${field}::varchar`
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.STRUCT:
      // A field of a struct that is called so costs its column the type, and nothing else.
      return /HUGEINT|INTERVAL/.test(String(type)) ? `to_json(${field})` : field
    default:
      return field
  }
}
