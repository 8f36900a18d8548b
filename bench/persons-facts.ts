// All that Postgres says of a project's persons and groups, as named facts: "person <uuid>", "distinct_id <id>", and so
// on. Two sources agree when they hold the same facts.

import { openPostgres } from '../src/postgres/pool.ts'

/** JSON values by name. */
export type Facts = ReadonlyMap<string, unknown>

export interface PersonFact {
  readonly created_at_ms: number
  readonly is_identified: boolean
  readonly version: number
  readonly properties: unknown
}

/** Warnings that the persons consumer counts, and capture does not. */
const identityReasons = ['cannot_merge_with_illegal_distinct_id', 'cannot_merge_already_identified']

/** Anything in the last two is an event or a stretch of the journal that the persons consumer gave up. */
const factsSql = `
  select 'person ' || uuid as name, jsonb_build_object('created_at_ms', (extract(epoch from created_at) * 1000)::bigint,
    'is_identified', is_identified, 'version', version, 'properties', properties) as value
  from person where project_id = $1
  union all
  select 'distinct_id ' || distinct_id, to_jsonb(person_uuid) from person_distinct_id where project_id = $1
  union all
  select 'override ' || born_id, to_jsonb(person_uuid) from person_override where project_id = $1
  union all
  select 'group type ' || name, to_jsonb(type_index) from group_type where project_id = $1
  union all
  select 'group ' || name || ' ' || key, jsonb_build_object('created_at_ms',
    (extract(epoch from created_at) * 1000)::bigint, 'version', version, 'properties', properties)
  from project_group join group_type using (project_id, type_index) where project_id = $1
  union all
  select 'usage ' || day, jsonb_build_object('billable', billable, 'historical', historical)
  from usage_daily where project_id = $1
  union all
  select 'warning ' || reason, to_jsonb(count) from ingestion_warning where project_id = $1 and reason = any($2)
  union all
  select 'project', jsonb_build_object('ingested_event', ingested_event, 'has_group_types', has_group_types)
  from project where id = $1
  union all
  select 'tombstone ' || born_id, to_jsonb(deleted_at) from person_tombstone where project_id = $1
  union all
  select 'quarantine ' || uuid, to_jsonb(error) from person_quarantine where project_id = $1
  union all
  select 'gap ' || lane || ' ' || position, to_jsonb(gap_end) from person_gap`

/** Reads the facts of a project. */
export async function readFacts(connectionString: string, projectId: number): Promise<Facts> {
  const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} }
  const postgres = openPostgres({ connectionString, log: silent })
  try {
    const { rows } = await postgres.query<{ name: string; value: unknown }>(factsSql, [
      projectId,
      identityReasons,
    ])
    return new Map(rows.map(({ name, value }) => [name, value]))
  } finally {
    await postgres.close()
  }
}
