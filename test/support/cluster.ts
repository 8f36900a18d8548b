// A data folder of Postgres for tests of the server itself.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { stopPostmaster } from '../../src/postgres/postmaster.ts'

/** A place for a data folder; whatever runs there when the test ends is stopped, and the place is removed. */
export function clusterDir(t: Test): string {
  const parent = mkdtempSync(join(tmpdir(), 'spate-test-'))
  const dir = join(parent, 'postgres')
  t.teardown(async () => {
    await stopPostmaster(dir)
    rmSync(parent, { recursive: true, force: true })
  })
  return dir
}

/** The rows of one statement over a connection of its own. */
export async function rowsOf(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {}) // the statement that meets it reports it
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
