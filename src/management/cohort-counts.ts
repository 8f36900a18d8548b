// Counts the members of cohorts with filters, in the background: soon after a cohort of the project has changed, and
// every ten minutes, since persons change. All cohorts of a project are counted in one look at its persons, by the code
// that evaluates flags, and with pauses: whoever asks for flags shares the thread.

import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { Cohorts, type CompiledCohort } from '../flags/cohort.ts'
import type { CohortDefinition } from '../flags/definition.ts'
import { Effort } from '../flags/effort.ts'
import type { JsonObject } from '../flags/json-value.ts'
import type { Circumstances } from '../flags/subject.ts'
import { Truth } from '../flags/truth.ts'
import type { Clock } from '../lib/clock.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { isTransient, type Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'

export interface CohortCounts {
  /** Counts what is due. Never fails: what cannot be done now is done later. */
  count(): Promise<void>
  close(): Promise<void>
}

interface CohortCountsOptions {
  readonly postgres: Postgres
  readonly clock: Clock
  readonly log: Log
}

const lookMs = 60_000
/** A million persons take 20 s of the thread's time, in four times as long. */
const recountSeconds = 600
const chunkRows = 200
/** A pause after each chunk, by the time it took: a quarter of the thread at most. */
const pauseFactor = 3
const firstUuid = '00000000-0000-0000-0000-000000000000'

/** Call `count` when the database is ready. */
export function openCohortCounts({ postgres, clock, log }: CohortCountsOptions): CohortCounts {
  let isClosed = false
  const work = async (): Promise<void> => {
    const { rows } = await postgres.query<{ project_id: number }>(selectDue, [
      clock.nowMs() / 1000,
      recountSeconds,
    ])
    for (const { project_id } of rows) if (!isClosed) await countProject(project_id)
  }
  const countProject = async (projectId: number): Promise<void> => {
    const startedMs = clock.nowMs()
    const counting = await openCounting(postgres, projectId, startedMs)
    for (let after: string | null = firstUuid; after !== null; ) {
      const beganMs = clock.monotonicMs()
      after = await countChunk(postgres, projectId, counting, after)
      if (isClosed) return
      await pause((clock.monotonicMs() - beganMs) * pauseFactor)
    }
    await postgres.query(saveCounts, [
      [...counting.counts.keys()],
      [...counting.counts.values()],
      startedMs / 1000,
    ])
  }
  const attempt = (): Promise<void> =>
    work().catch((error: unknown) => {
      const message = 'cohorts were not counted; it is tried again'
      if (isTransient(error)) log.debug({ err: error }, message)
      else log.warn({ err: error }, message)
    })
  const flight = singleFlight(attempt)
  let last = Promise.resolve()
  const count = (): Promise<void> => {
    if (!isClosed) last = flight()
    return last
  }
  const listening = postgres.listen('definitions_changed', () => void count())
  const timer = setInterval(count, lookMs).unref()
  return {
    count,
    async close() {
      isClosed = true
      clearInterval(timer)
      await listening.close()
      await last
    },
  }
}

/** Projects one of whose cohorts has changed since the counts, or was counted long ago. */
const selectDue = `
  select cohort.project_id from cohort left join cohort_count on cohort_count.cohort_id = cohort.id
  where not cohort.is_static and not cohort.deleted
  group by cohort.project_id
  having bool_or(counted_at is null) or min(counted_at) < to_timestamp($1) - make_interval(secs => $2)
    or min(counted_at) < (select max(updated_at) from cohort changed where changed.project_id = cohort.project_id)
  order by cohort.project_id`

/** A cohort that is gone meanwhile has no count. */
const saveCounts = `
  insert into cohort_count (cohort_id, project_id, count, counted_at)
  select cohort.id, cohort.project_id, counted.count, to_timestamp($3)
  from unnest($1::integer[], $2::bigint[]) as counted (id, count) join cohort on cohort.id = counted.id
  on conflict (cohort_id) do update set count = excluded.count, counted_at = excluded.counted_at`

interface Counting {
  readonly nowMs: number
  readonly checks: ReadonlyMap<number, CompiledCohort & { kind: 'check' }>
  /** Static cohorts that some check asks for. */
  readonly staticIds: readonly number[]
  /** Members so far, by cohort. */
  readonly counts: Map<number, number>
}

async function openCounting(postgres: Postgres, projectId: number, nowMs: number): Promise<Counting> {
  const { rows } = await postgres.query<CohortDefinition>(
    `select id, is_static as "isStatic", filters -> 'properties' as properties
     from cohort where project_id = $1 and not deleted order by id`,
    [projectId],
  )
  const cohorts = new Cohorts(new Map(rows.map((cohort) => [cohort.id, cohort])))
  const dynamic = rows.filter(({ isStatic }) => !isStatic)
  const checks = new Map<number, CompiledCohort & { kind: 'check' }>()
  for (const { id } of dynamic) {
    const compiled = cohorts.membership({ key: 'id', value: id, type: 'cohort' })
    // One that leads to a cohort that is not there has no members that anybody could tell.
    if (compiled.kind === 'check') checks.set(id, compiled)
  }
  const staticIds = new Set([...checks.values()].flatMap((check) => [...check.staticIds]))
  return { nowMs, checks, staticIds: [...staticIds], counts: new Map(dynamic.map(({ id }) => [id, 0])) }
}

interface PersonRow {
  readonly uuid: string
  readonly properties: JsonObject
  readonly cohorts: readonly number[]
}

/** Counts the next persons. Returns the last one's uuid, null when there are no more. */
async function countChunk(
  postgres: Postgres,
  projectId: number,
  { nowMs, checks, staticIds, counts }: Counting,
  after: string,
): Promise<string | null> {
  const { rows } = await postgres.query<PersonRow>(
    `select uuid, properties, array(
       select cohort_id from cohort_person member
       where member.project_id = $1 and member.person_uuid = person.uuid and cohort_id = any($4::integer[])) as cohorts
     from person where project_id = $1 and uuid > $2 order by uuid limit $3`,
    [projectId, after, chunkRows, staticIds],
  )
  for (const { properties, cohorts } of rows) {
    const circumstances = circumstancesOf(properties, cohorts, nowMs)
    for (const [id, { check }] of checks) {
      if (circumstances.effort.isOthersTurn()) await setImmediate()
      circumstances.effort.beginFlag()
      if (check(circumstances) === Truth.yes) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  return rows.length < chunkRows ? null : (rows.at(-1)?.uuid ?? null)
}

/** A person as a flag would see it that asks about it by none of its ids. */
function circumstancesOf(stored: JsonObject, cohorts: readonly number[], nowMs: number): Circumstances {
  const id = ''
  return {
    person: { id, idBytes: Buffer.from(id), idProperty: 'distinct_id', given: null, derived: null, stored },
    groups: [null, null, null, null, null],
    deviceIdBytes: null,
    nowMs,
    effort: new Effort(),
    staticCohorts: new Set(cohorts),
    hashKeys: new Map(),
  }
}

async function pause(ms: number): Promise<void> {
  if (ms < 1) await setImmediate()
  else await delay(ms, null, { ref: false })
}
