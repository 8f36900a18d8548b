// Reads the events store of a server that has stopped, for what no endpoint shows.

import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Test } from 'tap'
import { openEvents } from '../../src/events/client.ts'
import { openJournal } from '../../src/journal/client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from './postgres.ts'
import { until } from './until.ts'

export interface StoredRow {
  readonly event: string
  readonly historical: boolean
}

/** All rows of one distinct_id, in the order of the journal. The server must have been a process of its own. */
export async function readStoredRows(dataDir: string, distinctId: string): Promise<StoredRow[]> {
  const rows = await read(
    dataDir,
    'select event, historical from events where distinct_id = $1 order by lane, position, index',
    [distinctId],
  )
  return rows.map((row) => ({ event: String(row.event), historical: row.historical === true }))
}

/** How many rows there are of each event name. */
export async function readEventCounts(dataDir: string): Promise<Record<string, number>> {
  const rows = await read(dataDir, 'select event, count(*)::double as count from events group by event', [])
  return Object.fromEntries(rows.map((row) => [String(row.event), Number(row.count)]))
}

async function read(dataDir: string, sql: string, values: string[]) {
  const instance = await DuckDBInstance.create(join(dataDir, 'events.duckdb'), { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    return (await connection.runAndReadAll(sql, values)).getRowObjectsJS()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Asks the events store of a server that has stopped, as rooms of the server do. */
export async function queryEvents(
  t: Test,
  dataDir: string,
  sql: string,
): Promise<readonly (readonly unknown[])[]> {
  const journalDir = join(dataDir, 'journal')
  const journal = await openJournal({ dir: journalDir, quarantineDir: join(dataDir, 'quarantine') })
  t.teardown(() => journal.close())
  const events = openEvents({
    dataDir,
    journalDir,
    journal,
    memoryLimitBytes: 256 * 1024 * 1024,
    threads: 1,
    killAt: null,
    log: silentLog,
    clock: systemClock,
  })
  t.teardown(() => events.close())
  await until(() => events.state().isReady)
  return (await events.query(sql)).rows
}
