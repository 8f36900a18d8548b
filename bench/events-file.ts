// The events store of a server that has ended, as its file has it: what is judged is the data, not a view of it. While
// a server runs, its own thread is the only one that may open the file.

import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/** Opens the file of a data folder for as long as `read` takes. */
export async function readEventsFile<T>(
  dataDir: string,
  read: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(join(dataDir, 'events.duckdb'), { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    return await read(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
