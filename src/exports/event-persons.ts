// The persons of a chunk of events: how large they are, and a copy of them for the events store to join and to choose
// events by.

import type { TenantSql } from '../api/tenant-sql.ts'
import type { CopiedPage } from '../events/copied-rows.ts'
import type { Copies } from '../events/selects.ts'
import { pagesOf, type Sized } from './copied-pages.ts'

export interface PersonSize extends Sized {
  readonly uuid: string
}

/** Those of the persons that there are: anonymous events have an id of their own and none. */
export async function personSizes(
  sql: TenantSql,
  projectId: number,
  uuids: readonly string[],
): Promise<PersonSize[]> {
  const { rows } = await sql.query<PersonSize>(
    `select uuid, properties_bytes as bytes from person where project_id = $1 and uuid = any ($2::uuid[])`,
    [projectId, uuids],
  )
  return rows
}

/**
 * The condition that the copied person of an event meets all of `conditions`; one that has none has no properties.
 */
export function personCondition(conditions: readonly string[]): string {
  const all = conditions.join(' and ')
  const copied = 'temp.main.copied_person'
  return `(person_id in (select id from ${copied} where ${all}) or person_id not in (select id from ${copied})
    and (select ${all} from (select '{}'::json as properties)))`
}

/** Copies them as they are when it is asked for. */
export function copyPersons(sql: TenantSql, projectId: number, persons: readonly PersonSize[]): Copies {
  return {
    projectId,
    tables: ['person'],
    fill: (add) =>
      sql.snapshot(async (session) => {
        for (const page of pagesOf(persons)) {
          const { rows } = await session.query<Record<string, string | null>>(
            `select string_agg(uuid::text, chr(30) order by uuid) as id,
               string_agg((extract(epoch from created_at) * 1000000)::bigint::text, chr(30) order by uuid)
                 as created_at,
               string_agg(case when is_identified then 't' else 'f' end, chr(30) order by uuid) as is_identified,
               string_agg(properties::text, chr(30) order by uuid) as properties
             from person where project_id = $1 and uuid = any ($2::uuid[])`,
            [projectId, page.map(({ uuid }) => uuid)],
          )
          // An aggregate has one row: of NULLs when the persons have been deleted meanwhile.
          const texts = Object.values(rows[0]!).flatMap((text) => text ?? [])
          const copied: CopiedPage = { table: 'person', columns: texts }
          await add(copied)
        }
      }),
  }
}
