// Which extraction takes the rows of which model.

import { DeliveryError } from './delivery.ts'
import { openEventsExtraction } from './events-extraction.ts'
import type { EventsStore, Extraction, Subject } from './extraction.ts'
import type { RunRow } from './run-rows.ts'

interface Rooms {
  readonly store: EventsStore
  readonly chunkRowsMax: number
}

/** Errors: DeliveryError for a model that cannot be taken. */
export function openExtraction(rooms: Rooms, { model }: RunRow, subject: Subject): Extraction {
  if (model === 'events') return openEventsExtraction(rooms.store, subject, rooms.chunkRowsMax)
  throw new DeliveryError('permanent', `The model ${model} is not exported: choose events.`)
}
