// Events that DuckDB cannot hold are set aside: a row in `quarantine` in place of the event's own, written in the
// same transaction, and a file with the event itself. The file comes first and has a name that follows from the
// event's place in the journal, so that a crash between the two leaves a file that the next try writes again.
//
// File: one line of JSON (everything but the properties), then the bytes of the properties as they were.

import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { EventBatch } from '../capture/event-batch.ts'
import { textValue, valueBytes } from '../capture/text-column.ts'
import { laneNumbers } from '../consumer/offset.ts'
import type { JournalRecord, Lane } from '../journal/journal.ts'
import { formatUuid } from '../lib/uuid.ts'
import { syncFolder } from '../replace-file.ts'
import { shortMessage } from './failure.ts'

/** An event in its place. */
export interface PlacedEvent {
  readonly lane: Lane
  readonly record: JournalRecord
  /** The record's payload, opened. */
  readonly batch: EventBatch
  readonly index: number
}

/** Sets an event aside within the running transaction, because of `error`. Returns the file's name. */
export async function quarantineEvent(
  connection: DuckDBConnection,
  quarantineDir: string,
  { lane, record, batch, index }: PlacedEvent,
  error: unknown,
  atMicros: number,
): Promise<string> {
  const { header, text } = batch
  const file = `event-${lane}-${record.position}-${index}`
  const head = {
    projectId: header.projectId,
    uuid: formatUuid(batch.uuids, index * 16),
    event: textValue(text.event, index),
    distinctId: textValue(text.distinctId, index),
    timestampMicros: batch.timestamps[index],
    receivedAtMs: header.receivedAtMs,
    historical: header.historical,
    elementsChain: textValue(text.elementsChain, index),
    error: shortMessage(error),
  }
  const descriptor = openSync(join(quarantineDir, file), 'w', 0o600)
  try {
    // Unlike writeSync it goes on until all is written.
    writeFileSync(descriptor, `${JSON.stringify(head)}\n`)
    writeFileSync(descriptor, valueBytes(text.properties, index))
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  syncFolder(quarantineDir)
  await connection.run(
    `insert into quarantine values ($1::integer, $2::uuid, $3::utinyint, $4::bigint, $5::uinteger, $6, $7,
      make_timestamptz($8::bigint))`,
    [
      header.projectId,
      formatUuid(batch.uuids, index * 16),
      laneNumbers[lane],
      BigInt(record.position),
      index,
      shortMessage(error),
      file,
      BigInt(atMicros),
    ],
  )
  return file
}
