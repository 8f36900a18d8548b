// Hands the events store of a server that has ended to those who judge it.

import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { readEventsFile } from './events-file.ts'
import type { Facts } from './persons-facts.ts'
import type { FoldedRow, PersonsVerifier } from './persons-verifier.ts'
import { sentinelEvent } from './sentinel.ts'
import { hashEvent } from './stored-event.ts'
import type { StoredRow, Verifier } from './verifier.ts'

export interface StorePlace {
  readonly dataDir: string
  readonly projectId: number
  /** distinct_ids of sentinels that the store must hold: it is up to date, or not worth judging. */
  readonly sentinels: readonly string[]
  /** What Postgres says of the persons, once it has applied as much; null when they are not judged. */
  readonly facts: Facts | null
}

/**
 * Hands every row of the project to the verifiers, in the order they stand in the table, and what is in quarantine.
 * Throws when a sentinel is missing.
 */
export async function readStore(
  place: StorePlace,
  verifier: Verifier,
  persons: PersonsVerifier | null,
): Promise<void> {
  const { dataDir, projectId } = place
  await readEventsFile(dataDir, async (connection) => {
    const rows = await connection.stream(
      `select uuid::varchar, event, distinct_id, epoch_us(timestamp), historical, elements_chain,
              properties::varchar, lane, position, index, epoch_ms(received_at)
       from event where project_id = $project_id`,
      { project_id: projectId },
    )
    const sentinels = new Set<string>()
    for (let chunk = await rows.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
      for (const row of chunk.getRows()) {
        const read = storedRow(row)
        if (read.stored.event === sentinelEvent) sentinels.add(read.stored.distinctId)
        else verifier.row({ ...read, hash: hashEvent(read.stored) })
        persons?.row(read)
      }
      chunk = await rows.fetchChunk()
    }
    if (persons !== null) await readPersons(connection, projectId, persons)
    const quarantined = await connection.runAndReadAll(
      'select uuid::varchar from quarantine where project_id = $project_id',
      { project_id: projectId },
    )
    for (const [uuid] of quarantined.getRows()) verifier.quarantined(String(uuid))
    const missing = place.sentinels.find((distinctId) => !sentinels.has(distinctId))
    if (missing !== undefined) throw new Error(`the server had no lag, but ${missing} is not in its store`)
  })
}

/** Hands over whose events are whose, as reads see it. */
async function readPersons(
  connection: DuckDBConnection,
  projectId: number,
  persons: PersonsVerifier,
): Promise<void> {
  const reader = await connection.runAndReadAll(
    `select distinct event.born_id::varchar, events.person_id::varchar
     from event left join events on events.row_id = event.rowid where event.project_id = $project_id`,
    { project_id: projectId },
  )
  for (const [bornId, personId] of reader.getRows())
    persons.read(String(bornId), personId === null ? null : String(personId))
}

/** Takes a row of the select in readStore. */
function storedRow(row: readonly DuckDBValue[]): FoldedRow & Omit<StoredRow, 'hash'> {
  const [uuid, event, distinctId, micros, historical, elementsChain, properties, ...place] = row
  const [lane, position, index, receivedAtMs] = place.map(Number)
  const stored = {
    event: String(event),
    distinctId: String(distinctId),
    timestampMs: Number(micros) / 1000,
    historical: historical === true,
    elementsChain: String(elementsChain),
    // The column's type is JSON, and every event's properties are an object.
    properties: JSON.parse(String(properties)) as Record<string, unknown>,
  }
  // The select has eleven columns.
  return {
    uuid: String(uuid),
    stored,
    lane: lane!,
    position: position!,
    index: index!,
    receivedAtMs: receivedAtMs!,
  }
}
