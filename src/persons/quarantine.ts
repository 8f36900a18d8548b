// Events whose effect on persons cannot be stored are set aside: a row in `person_quarantine`, written in the
// transaction that passes over them, and a file with what the persons consumer reads of the event. The file comes
// first and has a name that follows from the event's place in the journal, so that a crash between the two leaves a
// file that the next try writes again. The event itself is in the events store all the same.
//
// File: one line of JSON, then the person column as JSON text.

import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { EventBatch } from '../capture/event-batch.ts'
import { personText } from '../capture/person-pieces.ts'
import { textValue } from '../capture/text-column.ts'
import type { Offset } from '../consumer/offset.ts'
import type { Lane } from '../journal/journal.ts'
import { formatUuid } from '../lib/uuid.ts'
import type { SetAsideEvent } from './persons-store.ts'

const errorCharsMax = 300

/** Writes the file of the event at `offset`, whose batch is `batch`. */
export function setEventAside(
  dir: string,
  lane: Lane,
  offset: Offset,
  batch: EventBatch,
  cause: unknown,
): SetAsideEvent {
  const { position, index } = offset
  const { header, text } = batch
  const file = `person-${lane}-${position}-${index}`
  const uuid = formatUuid(batch.uuids, index * 16)
  const error = shortMessage(cause)
  const head = {
    projectId: header.projectId,
    uuid,
    event: textValue(text.event, index),
    distinctId: textValue(text.distinctId, index),
    timestampMicros: batch.timestamps[index],
    flags: batch.flags[index],
    receivedAtMs: header.receivedAtMs,
    historical: header.historical,
    error,
  }
  mkdirSync(dir, { recursive: true })
  const descriptor = openSync(join(dir, file), 'w')
  try {
    writeSync(descriptor, `${JSON.stringify(head)}\n${personText(batch, index)}`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  return { lane, offset, projectId: header.projectId, uuid, error, file }
}

/** The first line of an error's message, cut, and free of what a text column refuses. */
export function shortMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const line = message.split('\n', 1)[0] ?? ''
  return line.slice(0, errorCharsMax).replaceAll('\0', '\ufffd')
}
