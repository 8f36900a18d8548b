// Reads a project's persons, their ids and groups for a query that names them, page by page, as of one moment.
//
// Why a copy for each query: persons change with every event that sets a property, and the events store takes rows by
// INSERT alone, so a mirror there would hold every version of every person. A copy costs nobody who does not ask, and
// shows what Postgres has now.
//
// Consistency: persons, ids and groups are of one moment, the events of a moment behind it, once the overrides up to
// then are mirrored. An event thus belongs to the person of that moment or a later one; a person born or merged within
// these milliseconds may be missing beside an event, never wrong.

import type { TenantSql } from '../api/tenant-sql.ts'
import { ServiceError } from '../errors.ts'
import type { CopiedPage, CopiedTable } from '../events/copied-rows.ts'
import type { Session } from '../postgres/pool.ts'

export interface CopyNeeds {
  readonly projectId: number
  readonly tables: readonly CopiedTable[]
  /** Keys of properties that are read; null for all. */
  readonly keys: readonly string[] | null
}

export interface CopyLimits {
  readonly rowsMax: number
  readonly bytesMax: number
}

/** Of one query: in the temporary tables a row takes some 60 bytes besides. */
export const copyLimits: CopyLimits = { rowsMax: 500_000, bytesMax: 64 * 1024 * 1024 }
/** One page: some 20 ms of the events thread. */
const pageRowsMax = 5_000
/** A page ends early once it holds this much; it always holds a row. */
const pageBytesMax = 4 * 1024 * 1024

/** A page of a table, where the next begins, and its columns' texts under their own names. */
interface PageRow {
  readonly count: number
  readonly bytes: number
  readonly last: string | null
  readonly [column: string]: unknown
}

interface Source {
  readonly columns: readonly string[]
  /** `$1` project, `$2` the key behind which to begin, `$3` rows, `$4` keys of properties or null, `$5` bytes. */
  readonly sql: string
  readonly start: string
}

const gathered = (column: string) => `string_agg(${column}, chr(30) order by place) as ${column}`
/** A picked property is as it was stored; one that is not there stays absent. */
const picked = `case when $4::text[] is null then properties::text else
  coalesce((
    select jsonb_object_agg(key, properties -> key) from unnest($4::text[]) key where properties ? key
  ), '{}')::text end`
const micros = '(extract(epoch from created_at) * 1000000)::bigint::text'

/**
 * The rows of `select`, ordered by `place`, as far as a page goes. A text for each column, not an array of them: those
 * are read character by character.
 */
function source(start: string, select: string, columns: readonly string[]): Source {
  const sql = `
    with found as (${select}),
    measured as (
      select *, sum(bytes) over (order by place rows between unbounded preceding and 1 preceding) as before from found)
    select count(*)::integer as count, coalesce(sum(bytes), 0)::double precision as bytes,
      max(place::text) as last,
      ${columns.map(gathered).join(', ')}
    from measured where before is null or before < $5`
  return { sql, start, columns }
}

const sources: Readonly<Record<CopiedTable, Source>> = {
  person: source(
    '00000000-0000-0000-0000-000000000000',
    `select *, octet_length(properties) as bytes from (
       select uuid as place, uuid::text as id, ${micros} as created_at,
         case when is_identified then 't' else 'f' end as is_identified, ${picked} as properties
       from person where project_id = $1 and uuid > $2::uuid order by uuid limit $3) row`,
    ['id', 'created_at', 'is_identified', 'properties'],
  ),
  distinct_id: source(
    '',
    `select *, octet_length(distinct_id) as bytes from (
       select distinct_id as place, to_json(distinct_id)::text as distinct_id, person_uuid::text as person_id
       from person_distinct_id
       where project_id = $1 and distinct_id > $2 and $4::text[] is not distinct from $4
       order by person_distinct_id.distinct_id limit $3) row`,
    ['distinct_id', 'person_id'],
  ),
  group: source(
    '0 ',
    `select *, octet_length(properties) + octet_length(key) as bytes from (
       select type_index || ' ' || key collate "C" as place, type_index::text as index, to_json(key)::text as key,
         ${micros} as created_at, ${picked} as properties
       from project_group
       where project_id = $1 and (type_index, key) > (split_part($2, ' ', 1)::smallint, substr($2, 3))
       order by project_group.type_index, project_group.key limit $3) row`,
    ['index', 'key', 'created_at', 'properties'],
  ),
}

/**
 * Hands over the rows of `needs`. Errors: invalid_input past the limits, postgres_unavailable, those of `add`.
 */
export async function copyPersons(
  sql: TenantSql,
  needs: CopyNeeds,
  add: (page: CopiedPage) => Promise<void>,
  limits: CopyLimits = copyLimits,
): Promise<void> {
  let rows = 0
  let bytes = 0
  await sql.snapshot(async (session) => {
    for (const table of needs.tables) {
      let place: string | null = sources[table].start
      while (place !== null) {
        const page: PageRow = await readPage(session, table, needs, place)
        rows += page.count
        bytes += page.bytes
        if (rows > limits.rowsMax || bytes > limits.bytesMax) throw tooLarge(needs, limits)
        if (page.count > 0)
          await add({ table, columns: sources[table].columns.map((name) => String(page[name])) })
        place = page.last
      }
    }
  })
}

async function readPage(
  session: Session,
  table: CopiedTable,
  { projectId, keys }: CopyNeeds,
  place: string,
): Promise<PageRow> {
  const values = [projectId, place, pageRowsMax, keys, pageBytesMax]
  const { rows } = await session.query<PageRow>(sources[table].sql, values)
  return rows[0]! // an aggregate without GROUP BY has one row
}

function tooLarge({ keys }: CopyNeeds, { rowsMax, bytesMax }: CopyLimits): ServiceError {
  const limit = `${rowsMax} persons, ids and groups, or ${bytesMax / 1024 / 1024} MiB of their properties`
  const advice = keys === null ? ': name the properties it needs, as in person.properties.email' : ''
  return new ServiceError('invalid_input', { detail: `A query reads at most ${limit}${advice}` })
}
