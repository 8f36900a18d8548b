// The rows of a run of the model persons: one for each distinct_id whose person, or which itself, changed in its
// stretch, in the order of distinct_ids. A row says how things are when its chunk is taken, all rows of a chunk as of
// one moment.
//
// What changed again behind the stretch is left to the run that takes that change, since its row would be the same
// there; as long as there is no such run it is taken here: somebody who changes all the time would come late with every
// one.
//
// A chunk that is taken again after a crash may have other rows: destinations that remember rows take the newer ones.

import type { TenantSql } from '../api/tenant-sql.ts'
import type { CopiedPage } from '../events/copied-rows.ts'
import { Parameters } from '../events/property-filter.ts'
import {
  type ChangedId,
  type ChangedStretch,
  countChanged,
  readChanged,
  readRows,
} from './changed-persons.ts'
import { pagesOf } from './copied-pages.ts'
import { personConditions } from './event-conditions.ts'
import {
  chunkRowsMax,
  type EventsStore,
  type Extraction,
  extractWith,
  type Subject,
  type Taken,
} from './extraction.ts'

const select = `select project_id::bigint as team_id, distinct_id, person_id, properties, person_distinct_id_version,
  person_version, created_at, changed_at as _inserted_at, is_deleted
  from temp.main.copied_exported_person`

export function openPersonsExtraction(
  store: EventsStore,
  tenant: TenantSql,
  subject: Subject,
  rowsMax = chunkRowsMax,
): Extraction {
  const { projectId, stretchStart, stretchEnd, isNewest, format, chunkBytesMax } = subject
  const stretch: ChangedStretch = {
    projectId,
    from: stretchStart ?? '0',
    to: isNewest ? null : stretchEnd,
  }
  const parameters = new Parameters()
  const conditions = personConditions('persons', subject.filters, parameters)
  const { values } = parameters
  // Who is deleted has no properties, and is told of to whoever may have been told of them before.
  const where = conditions.length === 0 ? '' : `where is_deleted or (${conditions.join(' and ')})`
  const sql = `${select} ${where} order by distinct_id`
  return {
    async count() {
      // Properties are looked at when rows are taken.
      if (conditions.length > 0) return null
      return await tenant.snapshot((session) => countChanged(session, stretch))
    },
    async next(cursor, path, signal) {
      let chunk: readonly ChangedId[] = []
      let isLast = true
      const fill = (add: (page: CopiedPage) => Promise<void>): Promise<void> =>
        tenant.snapshot(async (session) => {
          const found = await readChanged(session, stretch, cursor, rowsMax + 1)
          chunk = found.slice(0, fitting(found, rowsMax, chunkBytesMax))
          isLast = chunk.length === found.length
          for (const page of pagesOf(chunk)) {
            const ids = page.map(({ distinct_id }) => distinct_id)
            await add(await readRows(session, projectId, ids))
          }
        })
      const copies = { projectId, tables: ['exported_person'], fill } as const
      const extracted = await extractWith(store, { sql, values, path, format }, signal, copies)
      const taken: Taken = {
        extracted: extracted.rowCount > 0 ? extracted : null,
        cursor: chunk.at(-1)?.distinct_id ?? cursor ?? '',
        isLast,
      }
      return taken
    },
  }
}

/** How many of them a chunk holds: one at least. */
function fitting(found: readonly ChangedId[], rowsMax: number, bytesMax: number): number {
  let bytes = 0
  for (const [at, id] of found.entries()) {
    bytes += id.bytes
    if (at === rowsMax || (at > 0 && bytes > bytesMax)) return at
  }
  return found.length
}
