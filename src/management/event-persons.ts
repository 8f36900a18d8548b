// Persons beside the events of a page: read from Postgres for the page alone, printed beside each of their events.

import { isServiceError } from '../errors.ts'
import type { ListedEvent } from '../events/list.ts'
import type { Session } from '../postgres/pool.ts'
import { distinctIdsMax } from './person-rows.ts'

/** Persons of a page by uuid, as JSON text; null for one that the page has no room for. */
export type EventPersons = ReadonlyMap<string, string | null>

/** Properties that are read at once, but for those of one person. */
const propertiesBytesMax = 16 * 1024 * 1024

interface PersonRow {
  readonly uuid: string
  /** Null beyond the limit. */
  readonly properties: string | null
  readonly distinct_ids: readonly string[]
}

/**
 * Reads the persons of `events` in one statement, in the order in which they occur, until their properties come to 16
 * MiB; the first is always read. Events without a person are anonymous, or have a person that was merged into another a
 * moment ago, which the events store is about to hear. While Postgres is away no event has one.
 */
export async function personsOfEvents(
  sql: Session,
  projectId: number,
  events: readonly ListedEvent[],
): Promise<EventPersons> {
  const uuids = [...new Set(events.map(({ personId }) => personId))]
  if (uuids.length === 0) return new Map()
  try {
    const { rows } = await sql.query<PersonRow>(
      `select uuid, properties::text as properties,
         array(select distinct_id from person_distinct_id
               where project_id = $1 and person_uuid = fitting.uuid and properties is not null
               order by distinct_id limit ${distinctIdsMax}) as distinct_ids
       from (
         select uuid, case when bytes_before < $3 then properties end as properties
         from (
           select uuid, properties,
             sum(properties_bytes) over (order by place) - properties_bytes as bytes_before
           from unnest($2::uuid[]) with ordinality as wanted (uuid, place)
           join person using (uuid)
           where project_id = $1
         ) measured
       ) fitting`,
      [projectId, uuids, propertiesBytesMax],
    )
    return new Map(rows.map((row) => [row.uuid, personText(row)]))
  } catch (error) {
    if (isServiceError(error, 'postgres_unavailable')) return new Map()
    throw error
  }
}

/** Properties are put in as they are stored: no number in them is read and printed again. */
function personText({ properties, distinct_ids }: PersonRow): string | null {
  if (properties === null) return null
  return `{"distinct_ids":${JSON.stringify(distinct_ids)},"properties":${properties}}`
}
