// All rows of the persons' tables, in the shape in which the memory twin shows its own (MemoryStore.dump).

import type { Session } from '../../src/postgres/pool.ts'
import type { PersonsDump } from './store-contract.ts'

interface ProjectRow {
  readonly id: number
  readonly ingested_event: boolean
  readonly has_group_types: boolean
}

export async function dumpPostgres(postgres: Session): Promise<PersonsDump> {
  const select = async <Row extends object>(sql: string): Promise<Row[]> =>
    (await postgres.query<Row>(sql)).rows
  const projects = await select<ProjectRow>(
    'select id, ingested_event, has_group_types from project order by id',
  )
  const tables = []
  for (const project of projects) tables.push(await dumpProject(postgres, project))
  const counts = await select<{ reason: string; count: number }>(
    'select reason, sum(count)::bigint as count from ingestion_warning group by reason',
  )
  const overrides = await select<{ born_id: string; person_uuid: string }>('select * from person_override')
  const tombstones = await select<{ born_id: string; ms: number }>(
    'select born_id, (extract(epoch from deleted_at) * 1000)::bigint as ms from person_tombstone',
  )
  const types = await select<{ project_id: number; name: string; type_index: number }>(
    'select * from group_type',
  )
  const usage = await select<{ project_id: number; day: string; billable: number; historical: number }>(
    'select project_id, day::text as day, billable, historical from usage_daily',
  )
  return {
    tables,
    counts: new Map(counts.map(({ reason, count }) => [reason, count])),
    overrides: new Map(overrides.map(({ born_id, person_uuid }) => [born_id, person_uuid])),
    tombstones: new Map(tombstones.map(({ born_id, ms }) => [born_id, ms])),
    mirroredTypes: new Map(
      types.map(({ project_id, name, type_index }) => [`${project_id} ${name}`, type_index]),
    ),
    usage: new Map(
      usage.map(({ project_id, day, billable, historical }) => [
        `${project_id} ${day}`,
        { billable, historical },
      ]),
    ),
  }
}

async function dumpProject(postgres: Session, { id, ingested_event, has_group_types }: ProjectRow) {
  const select = async <Row extends object>(sql: string): Promise<Row[]> =>
    (await postgres.query<Row>(sql, [id])).rows
  const micros = '(extract(epoch from created_at) * 1000000)::bigint as "createdAtMicros"'
  const types = await select<{ name: string; type_index: number }>(
    'select name, type_index from group_type where project_id = $1',
  )
  const owners = await select<{ distinct_id: string; person_uuid: string }>(
    'select distinct_id, person_uuid from person_distinct_id where project_id = $1',
  )
  const groups = await select<{ typeIndex: number; key: string }>(
    `select project_id as "projectId", type_index as "typeIndex", key, ${micros}, version, properties
     from project_group where project_id = $1`,
  )
  const persons = await select(
    `select project_id as "projectId", uuid, ${micros}, is_identified as "isIdentified", version, properties
     from person where project_id = $1`,
  )
  return {
    projectId: id,
    hasEvents: ingested_event,
    hasGroupTypes: has_group_types,
    groupTypes: new Map(types.map(({ name, type_index }) => [name, type_index])),
    persons: persons.sort(byText),
    owners: owners.map(({ distinct_id, person_uuid }) => [distinct_id, person_uuid]).sort(byText),
    groups: groups.map((group) => [`${group.typeIndex} ${group.key}`, group]).sort(byText),
  }
}

/** What a mirror of the outbox would hold: the same maps as in the dump, made by applying every change in order. */
export async function replayOutbox(postgres: Session): Promise<unknown> {
  const { rows } = await postgres.query<{
    seq: number
    project_id: number
    kind: string
    payload: Record<string, string | number>
  }>('select seq, project_id, kind, payload from store_change order by seq')
  const overrides = new Map<unknown, unknown>()
  const tombstones = new Map<unknown, unknown>()
  const mirroredTypes = new Map<unknown, unknown>()
  for (const { project_id, kind, payload } of rows) {
    if (kind === 'override') overrides.set(payload.bornId, payload.personUuid)
    else if (kind === 'group_type') mirroredTypes.set(`${project_id} ${payload.name}`, payload.index)
    else tombstones.set(payload.bornId, payload.deletedAtMs)
  }
  const isDense = rows.every(({ seq }, index) => seq === index + 1)
  return { isDense, overrides, tombstones, mirroredTypes }
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}
