// The schema of the events store: numbered SQL files, applied once each and in order when the store is opened.

import { readdirSync, readFileSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ServiceError } from '../errors.ts'

/** From dist/src/events to sql/duckdb. */
const folder = new URL('../../../sql/duckdb/', import.meta.url)

/**
 * Brings the store's schema up to date. Each file is one transaction together with the row that remembers it.
 * Errors: data_dir_unusable for a store that a newer version has written; DuckDB's errors pass through.
 */
export async function applySchema(connection: DuckDBConnection, atMicros: number): Promise<void> {
  await connection.run(
    `create table if not exists
      schema_file (number integer not null, name varchar not null, applied_at timestamptz not null)`,
  )
  const files = schemaFiles()
  const reader = await connection.runAndReadAll('select coalesce(max(number), 0) from schema_file')
  const applied = Number(reader.getRows()[0]?.[0])
  if (applied > files.length) {
    const detail = `the events store has schema ${applied}, this version knows ${files.length}; start a newer version`
    throw new ServiceError('data_dir_unusable', { detail })
  }
  for (const [number, name] of files.entries()) {
    if (number + 1 > applied) await applyFile(connection, number + 1, name, atMicros)
  }
  // Replaying DDL from the write-ahead log is DuckDB's weakest side: never leave any there.
  if (applied < files.length) await connection.run('checkpoint')
}

/** Names of the files in order; their numbers have no gaps. */
export function schemaFiles(): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
}

async function applyFile(connection: DuckDBConnection, number: number, name: string, atMicros: number) {
  await connection.run('begin')
  await connection.run(readFileSync(new URL(name, folder), 'utf8'))
  await connection.run('insert into schema_file values ($1::integer, $2, make_timestamptz($3::bigint))', [
    number,
    name,
    atMicros,
  ])
  await connection.run('commit')
}
