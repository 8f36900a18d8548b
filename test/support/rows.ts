// Reads the events store of a server that has stopped, for what no endpoint shows.

import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

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
