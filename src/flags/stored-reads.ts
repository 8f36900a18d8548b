// What is stored of those a request is about, in one round trip: properties of the person and of groups, static
// cohorts, and what flags that keep their value bucket the person by. Answers are late or missing when Postgres is:
// after the deadline an evaluation goes on without.

import { isServiceError } from '../errors.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import type { JsonObject } from './json-value.ts'

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

interface Row {
  readonly person: JsonObject | null
  readonly groups: Readonly<Record<string, JsonObject>> | null
  readonly cohorts: readonly number[] | null
  readonly hash_keys: Readonly<Record<string, string>> | null
}

/** A page waits for its flags: past this it is better off without some. */
export const storedReadMsMax = 500
/** Reads under way; more would only be late. */
const readsMax = 256

/** The oldest among a person's ids holds, so that merging persons changes nobody's flags twice. */
const readStatement = `
with me as materialized (
  select person_uuid from person_distinct_id where project_id = $1 and distinct_id = $2
)
select
  (select properties from person where project_id = $1 and uuid = (select person_uuid from me)) as person,
  case when cardinality($3::smallint[]) > 0 then (
    select json_object_agg(type_index, properties) from project_group
    where project_id = $1 and (type_index, key) in (select * from unnest($3::smallint[], $4::text[]))
  ) end as groups,
  case when cardinality($5::integer[]) > 0 then (
    select array_agg(cohort_id) from cohort_person
    where project_id = $1 and person_uuid = (select person_uuid from me) and cohort_id = any($5)
  ) end as cohorts,
  case when cardinality($6::text[]) > 0 then (
    select json_object_agg(flag_key, hash_key) from (
      select distinct on (flag_key) flag_key, hash_key from flag_hash_key_override
      where project_id = $1 and flag_key = any($6) and distinct_id in (
        select $2 union all
        select distinct_id from person_distinct_id
        where project_id = $1 and person_uuid = (select person_uuid from me)
      )
      order by flag_key, seq
    ) as oldest
  ) end as hash_keys`

const keepStatement = `
insert into flag_hash_key_override (project_id, distinct_id, flag_key, hash_key)
select $1, $2, flag_key, $3 from unnest($4::text[]) as flag_key
on conflict do nothing`

/** `postgres` should have short limits of its own, or reads that nobody waits for any more fill it. */
export function openStoredReads(postgres: Postgres, log: Log): StoredReads {
  let underWay = 0
  const inTime = async <T>(query: () => Promise<T>): Promise<T | null> => {
    if (underWay >= readsMax) return null
    underWay++
    const answer = query().finally(() => {
      underWay--
    })
    answer.catch(() => {}) // when it comes too late
    let timer: NodeJS.Timeout | null = null
    const tooLate = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, storedReadMsMax, null)
    })
    try {
      return await Promise.race([answer, tooLate])
    } catch (error) {
      if (!isServiceError(error)) log.error({ err: error }, 'what flags need was not read')
      return null
    } finally {
      if (timer !== null) clearTimeout(timer)
    }
  }
  return {
    async read({ projectId, distinctId, groups, staticCohortIds, keptFlagKeys }) {
      const params = [
        projectId,
        distinctId,
        groups.map(({ typeIndex }) => typeIndex),
        groups.map(({ key }) => key),
        staticCohortIds,
        keptFlagKeys,
      ]
      const result = await inTime(() => postgres.query<Row>(readStatement, params))
      return result === null ? null : answerOf(result.rows[0]!) // the statement always returns one row
    },
    async keepHashKeys({ projectId, distinctId, hashKey, flagKeys }) {
      const params = [projectId, distinctId, hashKey, flagKeys]
      return (await inTime(() => postgres.query(keepStatement, params))) !== null
    },
  }
}

function answerOf({ person, groups, cohorts, hash_keys }: Row): StoredAnswer {
  return {
    person: person ?? {},
    groups: new Map(Object.entries(groups ?? {}).map(([index, properties]) => [Number(index), properties])),
    staticCohorts: new Set(cohorts),
    hashKeys: new Map(Object.entries(hash_keys ?? {})),
  }
}
