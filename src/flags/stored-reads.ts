// What is stored of those a request is about, in one round trip: properties of the person and of groups, static
// cohorts, and what flags that keep their value bucket the person by. Requests that come while others are being read
// for share the next round trip. Answers are late or missing when Postgres is: after the deadline an evaluation goes
// on without.

import { isServiceError } from '../errors.ts'
import { type Postgres, sqlState } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import { grouped } from './grouped.ts'
import type { JsonObject } from './json-value.ts'
import type { KnownSubjects, ReadSubject } from './known-subjects.ts'

/** What to read. Lists may be empty. */
export interface StoredQuestion {
  readonly projectId: number
  readonly distinctId: string
  readonly groups: readonly { readonly typeIndex: number; readonly key: string }[]
  readonly staticCohortIds: readonly number[]
  /** Flags that keep their value. */
  readonly keptFlagKeys: readonly string[]
}

export interface StoredAnswer {
  /** Empty when there is no such person. */
  readonly person: JsonObject
  /** By group type index; one that is not stored is absent. */
  readonly groups: ReadonlyMap<number, JsonObject>
  readonly staticCohorts: ReadonlySet<number>
  /** By flag key. */
  readonly hashKeys: ReadonlyMap<string, string>
}

/** What a person was before they were identified, for the flags that keep their value. */
export interface HashKeys {
  readonly projectId: number
  readonly distinctId: string
  readonly hashKey: string
  readonly flagKeys: readonly string[]
}

export interface StoredReads {
  /** Resolves to null when the answer is not there within the deadline. */
  read(question: StoredQuestion): Promise<StoredAnswer | null>
  /** Keeps what has not been kept before. Resolves to false when that is not certain within the deadline. */
  keepHashKeys(keys: HashKeys): Promise<boolean>
}

/** Objects of JSON come as text. */
interface Row {
  readonly person_uuid: string | null
  readonly person: string | null
  readonly groups: Readonly<Record<string, string>> | null
  readonly cohorts: readonly number[] | null
  readonly hash_keys: Readonly<Record<string, string>> | null
}

/** A page waits for its flags: past this it is better off without some. */
export const storedReadMsMax = 500
/** Reads, and apart from them writes, under way; more would only be late. */
const readsMax = 256
/**
 * With 16 connections that ask for 10 flags a read of its own for each request takes 133 µs of the server's processor
 * time and 182 of Postgres's, groups 58 and 49 (Node 20.20): what costs is waking each other.
 */
const groupMax = 16
/** One saves a third of Postgres's part more and none of the server's, but a statement that is stuck holds up all. */
const groupsMax = 2
/** With 1000 flags each takes half a millisecond from here to its reply. */
const answersInTurn = 4

/**
 * One row for each question, in their order. Lists of ids come as JSON, null when they are empty; groups come as rows
 * of their own. The oldest among a person's ids holds, so that merging persons changes nobody's flags twice.
 */
const readStatement = `
with asked as materialized (
  select n, project_id, distinct_id, cohort_ids::json, flag_keys::json, (
    select person_uuid from person_distinct_id as d
    where d.project_id = q.project_id and d.distinct_id = q.distinct_id
  ) as person_uuid
  from unnest($1::integer[], $2::text[], $3::text[], $4::text[])
    with ordinality as q (project_id, distinct_id, cohort_ids, flag_keys, n)
)
select person_uuid,
  (select properties::text from person as p
    where p.project_id = asked.project_id and p.uuid = asked.person_uuid) as person,
  case when cardinality($5::integer[]) > 0 then (
    select json_object_agg(g.type_index, stored.properties::text)
    from unnest($5::integer[], $6::smallint[], $7::text[]) as g (n, type_index, key)
    cross join lateral (
      select properties from project_group as s
      where s.project_id = asked.project_id and s.type_index = g.type_index and s.key = g.key
      limit 1
    ) as stored
    where g.n = asked.n
  ) end as groups,
  case when cohort_ids is not null then (
    select array_agg(cohort_id) from cohort_person as c
    where c.project_id = asked.project_id and c.person_uuid = asked.person_uuid
      and c.cohort_id in (select value::integer from json_array_elements_text(cohort_ids))
  ) end as cohorts,
  case when flag_keys is not null then (
    select json_object_agg(flag_key, hash_key) from (
      select distinct on (flag_key) flag_key, hash_key from flag_hash_key_override as o
      where o.project_id = asked.project_id
        and o.flag_key in (select value from json_array_elements_text(flag_keys))
        and o.distinct_id in (
          select asked.distinct_id union all
          select d.distinct_id from person_distinct_id as d
          where d.project_id = asked.project_id and d.person_uuid = asked.person_uuid
        )
      order by flag_key, seq
    ) as oldest
  ) end as hash_keys
from asked order by n`

/** One that is not stored has no properties. */
const nobody: ReadSubject = { properties: {}, bytes: 2 }

const keepStatement = `
insert into flag_hash_key_override (project_id, distinct_id, flag_key, hash_key)
select $1, $2, flag_key, $3 from unnest($4::text[]) as flag_key
on conflict do nothing`

/**
 * `postgres` should have short limits of its own, or reads that nobody waits for any more fill it. Copies of what was
 * read go to `known`; nothing is taken from there.
 */
export function openStoredReads(postgres: Postgres, known: KnownSubjects, log: Log): StoredReads {
  const failed = (error: unknown): null => {
    if (!isServiceError(error)) log.error({ err: error }, 'what flags need was not read')
    return null
  }
  const readAll = async (questions: readonly StoredQuestion[]): Promise<readonly (StoredAnswer | null)[]> => {
    const { moment } = known
    try {
      const { rows } = await postgres.query<Row>(readStatement, paramsOf(questions))
      return rows.map((row, index) => answerOf(questions[index]!, row, known, moment))
    } catch (error) {
      // One that cannot be answered takes no other along.
      if (questions.length > 1 && isOfOne(error)) return (await Promise.all(questions.map(readOne))).flat()
      failed(error)
      return questions.map(() => null)
    }
  }
  const readOne = (question: StoredQuestion) => readAll([question])
  const keepAll = async ([keys]: readonly HashKeys[]): Promise<readonly (true | null)[]> => {
    const { projectId, distinctId, hashKey, flagKeys } = keys! // a group of one
    const kept = postgres.query(keepStatement, [projectId, distinctId, hashKey, flagKeys])
    return [await kept.then(() => true as const, failed)]
  }
  const limits = { questionsMax: readsMax, waitMsMax: storedReadMsMax, answersInTurn }
  const read = grouped({ ...limits, answerAll: readAll, groupMax, groupsMax })
  const keep = grouped({ ...limits, answerAll: keepAll, groupMax: 1, groupsMax: readsMax })
  return { read, keepHashKeys: async (keys) => (await keep(keys)) === true }
}

/** An error of the data that was asked for, not of the connection, of time or of memory. */
function isOfOne(error: unknown): boolean {
  return /^2/.test(sqlState(error) ?? '')
}

function paramsOf(questions: readonly StoredQuestion[]): unknown[] {
  const places: number[] = []
  const typeIndexes: number[] = []
  const groupKeys: string[] = []
  for (const [index, { groups }] of questions.entries()) {
    for (const { typeIndex, key } of groups) {
      places.push(index + 1)
      typeIndexes.push(typeIndex)
      groupKeys.push(key)
    }
  }
  return [
    questions.map(({ projectId }) => projectId),
    questions.map(({ distinctId }) => distinctId),
    questions.map(({ staticCohortIds }) => listText(staticCohortIds)),
    questions.map(({ keptFlagKeys }) => listText(keptFlagKeys)),
    places,
    typeIndexes,
    groupKeys,
  ]
}

function listText(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list)
}

function answerOf(
  { projectId, distinctId, groups }: StoredQuestion,
  row: Row,
  known: KnownSubjects,
  moment: number,
): StoredAnswer {
  const person = subjectIn(row.person)
  known.keepPerson(projectId, distinctId, row.person_uuid, person, moment)
  const answered = new Map<number, JsonObject>()
  for (const { typeIndex, key } of groups) {
    const text = row.groups?.[typeIndex] ?? null
    const group = subjectIn(text)
    known.keepGroup(projectId, typeIndex, key, group, moment)
    if (text !== null) answered.set(typeIndex, group.properties)
  }
  return {
    person: person.properties,
    groups: answered,
    staticCohorts: new Set(row.cohorts),
    hashKeys: new Map(Object.entries(row.hash_keys ?? {})),
  }
}

function subjectIn(text: string | null): ReadSubject {
  if (text === null) return nobody
  return { properties: JSON.parse(text) as JsonObject, bytes: text.length } // the column holds objects only
}
