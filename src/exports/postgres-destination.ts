// Postgres: rows go in by COPY, straight from the staged file. A table that is missing is made; one that is there is
// taken as it is, as long as it has the columns.

import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Foreign } from '../postgres/foreign.ts'
import { sqlState } from '../postgres/pool.ts'
import { DeliveryError, type Destination, type StagedChunk } from './delivery.ts'
import { columnList, createTable, postgresTypes, tableName } from './postgres-columns.ts'
import { type MakeTable, openDelivery, type WriteChunk } from './postgres-delivery.ts'
import { tamedCsv } from './tamed-numbers.ts'

const pieceBytes = 256 * 1024
const numericOutOfRange = '22003'

export const postgresDestination: Destination = {
  format: () => ({ kind: 'csv', compression: null }),
  chunkBytesMax: () => null,
  async open(config, run, outbound) {
    const table = tableName(config)
    const write: WriteChunk = async (foreign, chunk, signal) => {
      await makeTable(foreign, table, createTable(table, chunk.columns, postgresTypes))
      const rowCount = await copyChunk(foreign, table, chunk, signal)
      if (rowCount === chunk.recordCount) return
      const sentence = `The database took ${rowCount} rows of ${chunk.recordCount}.`
      throw new DeliveryError('temporary', sentence)
    }
    return openDelivery({ config, run, outbound, what: 'The Postgres server', makeTable, write })
  },
}

/** Asks first: `create table if not exists` wants the right to create even where there is nothing to create. */
const makeTable: MakeTable = async (foreign, table, statement) => {
  const { rows } = await foreign.query<{ found: string | null }>('select to_regclass($1) as found', [table])
  if (rows[0]?.found === null) await foreign.query(statement)
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
