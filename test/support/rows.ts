// Reads the events store of a server that has stopped, for what no endpoint shows.

import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

export interface StoredRow {
  readonly event: string
  readonly historical: boolean
}

/** All rows of one distinct_id, in the order of the journal. The server must have been a process of its own. */
export async function readStoredRows(dataDir: string, distinctId: string): Promise<StoredRow[]> {
  const instance = await DuckDBInstance.create(join(dataDir, 'events.duckdb'), { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    const reader = await connection.runAndReadAll(
      'select event, historical from events where distinct_id = $1 order by lane, position, index',
      [distinctId],
    )
    return reader
      .getRowObjectsJS()
      .map((row) => ({ event: String(row.event), historical: row.historical === true }))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
