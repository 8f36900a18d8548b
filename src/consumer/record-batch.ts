// The batch of events that a record holds.

import { type EventBatch, openEventBatch } from '../capture/event-batch.ts'
import type { JournalRecord } from '../journal/journal.ts'
import { assert } from '../lib/assert.ts'

/** Opens a record of events. Errors: a programmer error for a batch that is damaged, or not the record's. */
export function openRecord({
  payload,
  eventCount,
}: Pick<JournalRecord, 'payload' | 'eventCount'>): EventBatch {
  const batch = openEventBatch(payload)
  const { count } = batch.header
  assert(count === eventCount, `a record of ${eventCount} events holds a batch of ${count}`)
  return batch
}
