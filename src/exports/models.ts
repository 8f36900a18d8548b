// Which extraction takes the rows of which model.

import type { TenantSql } from '../api/tenant-sql.ts'
import { unreachable } from '../lib/assert.ts'
import { openEventsExtraction } from './events-extraction.ts'
import type { EventsStore, Extraction, Subject } from './extraction.ts'
import { openPersonsExtraction } from './persons-extraction.ts'
import type { RunRow } from './run-rows.ts'
import { openSessionsExtraction } from './sessions-extraction.ts'

interface Rooms {
  readonly store: EventsStore
  readonly sql: TenantSql
  readonly chunkRowsMax: number
}

export function openExtraction(
  { store, sql, chunkRowsMax }: Rooms,
  { model }: RunRow,
  subject: Subject,
): Extraction {
  switch (model) {
    case 'events':
      return openEventsExtraction(store, sql, subject, chunkRowsMax)
    case 'persons':
      return openPersonsExtraction(store, sql, subject, chunkRowsMax)
    case 'sessions':
      return openSessionsExtraction(store, subject, chunkRowsMax)
    default:
      return unreachable(model)
  }
}
