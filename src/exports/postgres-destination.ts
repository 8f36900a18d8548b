// Postgres: rows go in by COPY, straight from the staged file. A table that is missing is made; one that is there is
// taken as it is, as long as it has the columns.

import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Foreign } from '../postgres/foreign.ts'
import { sqlState } from '../postgres/pool.ts'
import { DeliveryError, type Destination, type StagedChunk } from './delivery.ts'
import { columnList, createTable, postgresTypes, quoted } from './postgres-columns.ts'
import { type Dialect, openDelivery } from './postgres-delivery.ts'
import { tamedCsv } from './tamed-numbers.ts'

const pieceBytes = 256 * 1024
const numericOutOfRange = '22003'

export const postgresDestination: Destination = {
  isReplacing: true,
  hasPersonProperties: false,
  format: () => ({ kind: 'csv', compression: null }),
  chunkBytesMax: () => null,
  async open(config, run, outbound) {
    return openDelivery({ config, run, outbound, dialect: postgresDialect })
  },
}

const postgresDialect: Dialect = {
  what: 'The Postgres server',
  create(table, columns, key) {
    const made = createTable(table, columns, postgresTypes)
    // Of one column, and by its hash: a session's id may be longer than what other indexes hold.
    return key === null ? made : `${made}; create index on ${table} using hash (${quoted(key.at(-1)!)})`
  },
  /** Asks first: `create table if not exists` wants the right to create even where there is nothing to create. */
  async makeTable(foreign, table, statements) {
    const { rows } = await foreign.query<{ found: string | null }>('select to_regclass($1) as found', [table])
    if (rows[0]?.found === null) await foreign.query(statements)
  },
  lock: (table) => `lock table ${table} in share row exclusive mode`,
  async write(foreign, table, chunk, signal) {
    const rowCount = await copyChunk(foreign, table, chunk, signal)
    if (rowCount === chunk.recordCount) return
    throw new DeliveryError('temporary', `The database took ${rowCount} rows of ${chunk.recordCount}.`)
  },
}

/**
 * Copies the file as it is, and once more with numbers made text that JSON may hold and jsonb does not, if there are
 * any: a single event of somebody who knows the project's public key would keep the others out.
 */
async function copyChunk(
  foreign: Foreign,
  table: string,
  { path, columns }: StagedChunk,
  signal: AbortSignal,
): Promise<number> {
  const copy = `copy ${table} (${columnList(columns)}) from stdin with (format csv, header true, encoding 'utf8')`
  await foreign.query('savepoint copying')
  try {
    return await foreign.copyIn(copy, createReadStream(path, { highWaterMark: pieceBytes }), signal)
  } catch (error) {
    if (sqlState(error) !== numericOutOfRange) throw error
  }
  await foreign.query('rollback to savepoint copying')
  return await foreign.copyIn(copy, Readable.from(tamedCsv(path, columns)), signal)
}
