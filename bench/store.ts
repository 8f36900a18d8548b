// Reads the events store of a server that has ended, straight from its file: what is judged is the data, not a view
// of it. While a server runs, its own thread is the only one that may open the file.

import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import { sentinelEvent } from './sentinel.ts'
import { hashEvent } from './stored-event.ts'
import type { StoredRow, Verifier } from './verifier.ts'

export interface StorePlace {
  readonly dataDir: string
  readonly projectId: number
  /** distinct_ids of sentinels that the store must hold: it is up to date, or not worth judging. */
  readonly sentinels: readonly string[]
}

/**
 * Hands every row of the project to the verifier, in the order they stand in the table, and what is in quarantine.
 * Throws when a sentinel is missing.
 */
export async function readStore(place: StorePlace, verifier: Verifier): Promise<void> {
  const { dataDir, projectId } = place
  const instance = await DuckDBInstance.create(join(dataDir, 'events.duckdb'), { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    const rows = await connection.stream(
      `select uuid::varchar, event, distinct_id, epoch_us(timestamp), historical, elements_chain,
              properties::varchar, lane, position, index
       from event where project_id = $project_id and event <> $sentinel`,
      { project_id: projectId, sentinel: sentinelEvent },
    )
    for (let chunk = await rows.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
      for (const row of chunk.getRows()) verifier.row(storedRow(row))
      chunk = await rows.fetchChunk()
    }
    const quarantined = await connection.runAndReadAll(
      'select uuid::varchar from quarantine where project_id = $project_id',
      { project_id: projectId },
    )
    for (const [uuid] of quarantined.getRows()) verifier.quarantined(String(uuid))
    await findSentinels(connection, place)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

async function findSentinels(
  connection: DuckDBConnection,
  { projectId, sentinels }: StorePlace,
): Promise<void> {
  const found = await connection.runAndReadAll(
    'select distinct_id from event where project_id = $project_id and event = $sentinel',
    { project_id: projectId, sentinel: sentinelEvent },
  )
  const ids = new Set(found.getRows().map(([distinctId]) => distinctId))
  const missing = sentinels.find((distinctId) => !ids.has(distinctId))
  if (missing !== undefined) throw new Error(`the server had no lag, but ${missing} is not in its store`)
}

/** Takes a row of the select above. */
function storedRow(row: readonly DuckDBValue[]): StoredRow {
  const [uuid, event, distinctId, micros, historical, elementsChain, properties, lane, position, index] = row
  const stored = {
    event: String(event),
    distinctId: String(distinctId),
    timestampMs: Number(micros) / 1000,
    historical: historical === true,
    elementsChain: String(elementsChain),
    // The column's type is JSON, and every event's properties are an object.
    properties: JSON.parse(String(properties)) as Record<string, unknown>,
  }
  const place = { lane: Number(lane), position: Number(position), index: Number(index) }
  return { uuid: String(uuid), hash: hashEvent(stored), ...place }
}
