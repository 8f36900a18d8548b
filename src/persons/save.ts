// Saves what a step changes, in the order of the fields of Changes: every table gets at most one statement of each
// kind, with all rows of the step in arrays.
//
// Static cohorts are what moves when persons merge: hash-key overrides stay with their id. Management puts persons
// into cohorts meanwhile, holding the row of each so that it stays. Hence cohorts come after the deletion of persons,
// which waits for that: a row that was put in before is seen then, and afterwards there is no person to put in.

import type {
  Changes,
  DistinctId,
  PersonKey,
  PersonMerge,
  ReleasedId,
  StoreChange,
  Warning,
} from '../identity/changes.ts'
import type { Group, Person } from '../identity/known.ts'
import type { Session } from '../postgres/pool.ts'
import { printSeen } from './packed-seen.ts'
import type { ChangesEnd } from './persons-store.ts'

/** Everything that goes with a project; what has a foreign key goes by itself. */
const tablesOfProject = [
  'person_distinct_id',
  'person_distinct_id_deleted',
  'person',
  'project_group',
  'person_override',
  'person_tombstone',
  'flag_hash_key_override',
  'cohort_person',
] as const

/** Microseconds since the epoch as a timestamptz, exactly: the factor is an integer below 2^53. */
const timestampOf = (micros: string) => `'epoch'::timestamptz + ${micros} * interval '1 microsecond'`

/** chr(30) */
const separator = '\x1e'

/** The time of the running step, which has moved the progress along (progress.ts). */
const stepTime = '(select changed_at from persons_progress)'

/** Saves `changes` within the running transaction. Returns where the outbox ends when something was added to it. */
export async function saveChanges(session: Session, changes: Changes): Promise<ChangesEnd | null> {
  if (changes.projectsDeleted.length > 0) await deleteProjects(session, changes.projectsDeleted)
  if (changes.personsDeleted.length > 0) {
    await session.query(
      `delete from person using unnest($1::integer[], $2::uuid[]) as gone (project_id, uuid)
       where person.project_id = gone.project_id and person.uuid = gone.uuid`,
      columns(changes.personsDeleted, ['projectId', 'uuid']),
    )
    await saveCohorts(session, changes.personsDeleted, changes.merges)
  }
  if (changes.persons.length > 0) await savePersons(session, changes.persons)
  await saveDistinctIds(session, changes.distinctIds)
  if (changes.idsReleased.length > 0) await deleteHashKeys(session, changes.idsReleased)
  if (changes.groupTypes.length > 0) {
    await session.query(
      `insert into group_type (project_id, name, type_index)
       select * from unnest($1::integer[], $2::text[], $3::smallint[])`,
      columns(changes.groupTypes, ['projectId', 'name', 'index']),
    )
  }
  if (changes.groups.length > 0) await saveGroups(session, changes.groups)
  await saveCounts(session, changes)
  return changes.storeChanges.length > 0 ? await saveStoreChanges(session, changes.storeChanges) : null
}

async function deleteProjects(session: Session, projectIds: readonly number[]): Promise<void> {
  for (const table of tablesOfProject)
    await session.query(`delete from ${table} where project_id = any($1::integer[])`, [projectIds])
  await session.query('delete from project where id = any($1::integer[])', [projectIds])
}

/** Merged persons are deleted as well: what they were in is not lost but moved. */
async function saveCohorts(
  session: Session,
  deleted: readonly PersonKey[],
  merges: readonly PersonMerge[],
): Promise<void> {
  const merged = new Set(merges.map(({ projectId, from }) => `${projectId} ${from}`))
  const gone = deleted.filter(({ projectId, uuid }) => !merged.has(`${projectId} ${uuid}`))
  // First those: a person may be deleted, born again, and merged into.
  if (gone.length > 0) {
    await session.query(
      `delete from cohort_person using unnest($1::integer[], $2::uuid[]) as gone (project_id, uuid)
       where cohort_person.project_id = gone.project_id and cohort_person.person_uuid = gone.uuid`,
      columns(gone, ['projectId', 'uuid']),
    )
  }
  if (merges.length === 0) return
  await session.query(
    `with moved as (
       delete from cohort_person
       using unnest($1::integer[], $2::uuid[], $3::uuid[]) as merge (project_id, from_uuid, into_uuid)
       where cohort_person.project_id = merge.project_id and cohort_person.person_uuid = merge.from_uuid
       returning merge.project_id, merge.into_uuid, cohort_person.cohort_id)
     insert into cohort_person (project_id, person_uuid, cohort_id) select * from moved
     on conflict do nothing`,
    columns(merges, ['projectId', 'from', 'into']),
  )
}

async function savePersons(session: Session, persons: readonly Person[]): Promise<void> {
  await session.query(
    `insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes,
       seen, changed_at)
     select project_id, uuid, ${timestampOf('created_at_micros')}, is_identified, version, properties::jsonb,
       octet_length(properties), seen, ${stepTime}
     from unnest($1::integer[], $2::uuid[], $3::float8[], $4::boolean[], $5::bigint[], $6::uuid[],
       string_to_array($7, chr(30)))
       as saved (project_id, uuid, created_at_micros, is_identified, version, seen, properties)
     on conflict (project_id, uuid) do update set created_at = excluded.created_at,
       is_identified = excluded.is_identified, version = excluded.version, properties = excluded.properties,
       properties_bytes = excluded.properties_bytes, seen = excluded.seen, changed_at = excluded.changed_at`,
    [
      ...columns(persons, ['projectId', 'uuid', 'createdAtMicros', 'isIdentified', 'version']),
      persons.map(({ seen }) => printSeen(seen)),
      // JSON text holds no such character. In an array each of its quotes would be escaped, and read back.
      persons.map(({ properties }) => properties).join(separator),
    ],
  )
}

async function saveDistinctIds(session: Session, distinctIds: readonly DistinctId[]): Promise<void> {
  const gone = distinctIds.filter(({ personUuid }) => personUuid === null)
  if (gone.length > 0) await deleteIds(session, gone)
  const kept = distinctIds.filter(({ personUuid }) => personUuid !== null)
  if (kept.length === 0) return
  await session.query(
    `insert into person_distinct_id (project_id, distinct_id, person_uuid, changed_at)
     select *, ${stepTime} from unnest($1::integer[], $2::text[], $3::uuid[])
     on conflict (project_id, distinct_id) do update set person_uuid = excluded.person_uuid,
       version = person_distinct_id.version + 1, changed_at = excluded.changed_at`,
    columns(kept, ['projectId', 'distinctId', 'personUuid']),
  )
}

/** Where persons are exported, what has the id hears that it is gone. */
async function deleteIds(session: Session, gone: readonly ReleasedId[]): Promise<void> {
  await session.query(
    `with deleted as (
       delete from person_distinct_id own using unnest($1::integer[], $2::text[]) as gone (project_id, distinct_id)
       where own.project_id = gone.project_id and own.distinct_id = gone.distinct_id
       returning own.project_id, own.distinct_id, own.person_uuid, own.version)
     insert into person_distinct_id_deleted (project_id, distinct_id, person_uuid, version, changed_at)
     select project_id, distinct_id, person_uuid, version + 1, ${stepTime} from deleted
     where project_id in (select project_id from batch_export where model = 'persons')
     on conflict (project_id, distinct_id) do update set person_uuid = excluded.person_uuid,
       version = excluded.version, changed_at = excluded.changed_at`,
    columns(gone, ['projectId', 'distinctId']),
  )
}

async function deleteHashKeys(session: Session, released: readonly ReleasedId[]): Promise<void> {
  await session.query(
    `delete from flag_hash_key_override own using unnest($1::integer[], $2::text[]) as gone (project_id, distinct_id)
     where own.project_id = gone.project_id and own.distinct_id = gone.distinct_id`,
    columns(released, ['projectId', 'distinctId']),
  )
}

async function saveGroups(session: Session, groups: readonly Group[]): Promise<void> {
  await session.query(
    `insert into project_group (project_id, type_index, key, created_at, version, properties, properties_bytes)
     select project_id, type_index, key, ${timestampOf('created_at_micros')}, version, properties::jsonb,
       octet_length(properties)
     from unnest($1::integer[], $2::smallint[], $3::text[], $4::float8[], $5::bigint[], $6::text[])
       as saved (project_id, type_index, key, created_at_micros, version, properties)
     on conflict (project_id, type_index, key) do update set version = excluded.version,
       properties = excluded.properties, properties_bytes = excluded.properties_bytes`,
    columns(groups, ['projectId', 'typeIndex', 'key', 'createdAtMicros', 'version', 'properties']),
  )
}

/** Writes the tables that hold the present truth, and the outbox that tells of the way there. */
async function saveStoreChanges(
  session: Session,
  changes: readonly StoreChange[],
): Promise<ChangesEnd | null> {
  const overrides = changes.filter((change) => change.kind === 'override')
  if (overrides.length > 0) {
    await session.query(
      `insert into person_override (project_id, born_id, person_uuid)
       select * from unnest($1::integer[], $2::uuid[], $3::uuid[])
       on conflict (project_id, born_id) do update set person_uuid = excluded.person_uuid`,
      columns(overrides, ['projectId', 'bornId', 'personUuid']),
    )
  }
  const tombstones = changes.filter((change) => change.kind === 'person_tombstone')
  if (tombstones.length > 0) {
    await session.query(
      `insert into person_tombstone (project_id, born_id, deleted_at)
       select project_id, born_id, ${timestampOf('deleted_at_ms * 1000')}
       from unnest($1::integer[], $2::uuid[], $3::float8[]) as gone (project_id, born_id, deleted_at_ms)
       on conflict (project_id, born_id) do update set
         deleted_at = greatest(person_tombstone.deleted_at, excluded.deleted_at)`,
      columns(tombstones, ['projectId', 'bornId', 'deletedAtMs']),
    )
  }
  const { rows } = await session.query<ChangesEnd>(
    `with told as (
       insert into store_change (epoch, seq, project_id, kind, payload, step_end)
       select change_epoch, change_seq + n, project_id, kind, payload::jsonb, change_seq + $4
       from persons_progress,
         unnest($1::integer[], $2::text[], $3::text[]) with ordinality as change (project_id, kind, payload, n))
     update persons_progress set change_seq = change_seq + $4
     returning change_epoch as epoch, change_seq as seq`,
    [...columns(changes, ['projectId', 'kind']), changes.map(payloadOf), changes.length],
  )
  return rows[0] ?? null
}

function payloadOf(change: StoreChange): string {
  const { kind: _, projectId: __, ...payload } = change
  return JSON.stringify(payload)
}

async function saveCounts(session: Session, { usage, warnings, projectFlips }: Changes): Promise<void> {
  if (usage.length > 0) {
    await session.query(
      `insert into usage_daily (project_id, day, billable, historical)
       select * from unnest($1::integer[], $2::date[], $3::bigint[], $4::bigint[])
       on conflict (project_id, day) do update set billable = usage_daily.billable + excluded.billable,
         historical = usage_daily.historical + excluded.historical`,
      columns(usage, ['projectId', 'day', 'billable', 'historical']),
    )
  }
  if (warnings.length > 0) {
    await session.query(
      `insert into ingestion_warning (project_id, kind, reason, count, first_seen, last_seen, sample)
       select project_id, 'warning', reason, count, ${timestampOf('first_seen_ms * 1000')},
         ${timestampOf('last_seen_ms * 1000')}, sample::jsonb
       from unnest($1::integer[], $2::text[], $3::bigint[], $4::float8[], $5::float8[], $6::text[])
         as added (project_id, reason, count, first_seen_ms, last_seen_ms, sample)
       on conflict (project_id, kind, reason) do update set count = ingestion_warning.count + excluded.count,
         first_seen = least(ingestion_warning.first_seen, excluded.first_seen),
         last_seen = greatest(ingestion_warning.last_seen, excluded.last_seen), sample = excluded.sample`,
      [
        ...columns(warnings, ['projectId', 'reason', 'count', 'firstSeenMs', 'lastSeenMs']),
        warnings.map(sampleText),
      ],
    )
  }
  if (projectFlips.length > 0) {
    await session.query(
      `update project set ingested_event = project.ingested_event or flip.ingested_event,
         has_group_types = project.has_group_types or flip.has_group_types
       from unnest($1::integer[], $2::boolean[], $3::boolean[]) as flip (id, ingested_event, has_group_types)
       where project.id = flip.id`,
      columns(projectFlips, ['projectId', 'ingestedEvent', 'hasGroupTypes']),
    )
  }
}

function sampleText({ sample }: Warning): string {
  return JSON.stringify({ event: sample.event, distinct_id: sample.distinctId, detail: sample.detail })
}

/** The rows' fields as arrays, one for each of `names`. */
function columns<Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]))
}
