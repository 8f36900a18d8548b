// Copies the tables that say what the outbox has said, page by page, as the base of a new mirror.
//
// The pages are read one after the other while the consumer goes on, so together they show no single moment. Whatever
// changes behind the place at which the base was begun comes once more from the outbox, and the last of a row's changes
// is what its table holds. So the mirror is whole again, and read, once it has the changes up to the moment at which
// the last page was read.

import type { MirrorCursor, MirrorPage } from '../events/mirror-page.ts'
import type { StoreChange } from '../identity/changes.ts'
import { unreachable } from '../lib/assert.ts'
import type { Session } from '../postgres/pool.ts'

/** The tables in the order in which they are copied. */
const tables = ['group_type', 'person_tombstone', 'person_override'] as const
type Table = (typeof tables)[number]

/** The last row that was copied of a table; its key's second column is an index for group_type, else a uuid. */
interface Place {
  readonly table: Table
  readonly projectId: number
  readonly key: string
}

/** `rest` of a mirror whose base lacks everything. */
export const baseBegin = restOf(startOf('group_type'))

/** Reads the next page of the base; `rest` is null behind the last. Errors: postgres_unavailable. */
export async function readBase(
  postgres: Session,
  cursor: MirrorCursor,
  rowsMax: number,
): Promise<MirrorPage> {
  const place = placeOf(cursor.rest ?? '')
  const changes = await readTable(postgres, place, rowsMax)
  const last = changes.at(-1)
  const isWhole = last === undefined || changes.length < rowsMax
  const next = isWhole ? nextTable(place.table) : { ...place, projectId: last.projectId, key: keyOf(last) }
  return {
    from: cursor,
    to: { ...cursor, rest: next === null ? null : restOf(next) },
    isAnew: false,
    changes: changes.map((change) => ({ seq: cursor.seq, change })),
  }
}

async function readTable(postgres: Session, place: Place, rowsMax: number): Promise<StoreChange[]> {
  const { projectId, key } = place
  const values = [projectId, key, rowsMax]
  switch (place.table) {
    case 'group_type': {
      const { rows } = await postgres.query<{ project_id: number; type_index: number; name: string }>(
        `select project_id, type_index, name from group_type
         where (project_id, type_index) > ($1, $2::smallint) order by project_id, type_index limit $3`,
        values,
      )
      return rows.map((row) => ({
        kind: 'group_type',
        projectId: row.project_id,
        name: row.name,
        index: row.type_index,
      }))
    }
    case 'person_tombstone': {
      const { rows } = await postgres.query<{ project_id: number; born_id: string; deleted_at_ms: number }>(
        `select project_id, born_id, (extract(epoch from deleted_at) * 1000)::bigint as deleted_at_ms
         from person_tombstone
         where (project_id, born_id) > ($1, $2::uuid) order by project_id, born_id limit $3`,
        values,
      )
      return rows.map((row) => ({
        kind: 'person_tombstone',
        projectId: row.project_id,
        bornId: row.born_id,
        deletedAtMs: row.deleted_at_ms,
      }))
    }
    case 'person_override': {
      const { rows } = await postgres.query<{ project_id: number; born_id: string; person_uuid: string }>(
        `select project_id, born_id, person_uuid from person_override
         where (project_id, born_id) > ($1, $2::uuid) order by project_id, born_id limit $3`,
        values,
      )
      return rows.map((row) => ({
        kind: 'override',
        projectId: row.project_id,
        bornId: row.born_id,
        personUuid: row.person_uuid,
      }))
    }
    default:
      return unreachable(place.table)
  }
}

function keyOf(change: StoreChange): string {
  return change.kind === 'group_type' ? String(change.index) : change.bornId
}

/** Before the first row: projects are numbered from 1. */
function startOf(table: Table): Place {
  const key = table === 'group_type' ? '0' : '00000000-0000-0000-0000-000000000000'
  return { table, projectId: 0, key }
}

function nextTable(table: Table): Place | null {
  const next = tables[tables.indexOf(table) + 1]
  return next === undefined ? null : startOf(next)
}

function restOf({ table, projectId, key }: Place): string {
  return `${table} behind ${projectId} ${key}`
}

function placeOf(rest: string): Place {
  const [, name, projectId, key] = /^(\w+) behind (\d+) ([-\da-f]+)$/.exec(rest) ?? []
  const table = tables.find((one) => one === name)
  if (table === undefined || projectId === undefined || key === undefined)
    throw new Error(`"${rest}" is no place in a base`)
  return { table, projectId: Number(projectId), key }
}
