// What every change of a flag, a cohort or an early access feature goes through: a project's definitions have one
// writer at a time, so what one statement has checked is still so when the next one writes; they name only each other
// and never in a circle; and together they stay within what is kept in memory.

import type { Principal } from '../api/principal.ts'
import type { Project } from '../api/tenant.ts'
import type { TenantSql } from '../api/tenant-sql.ts'
import { ServiceError } from '../errors.ts'
import { filterFault } from '../flags/check-property.ts'
import { cycleThrough, referencesIn } from '../flags/references.ts'
import type { Clock } from '../lib/clock.ts'
import { type Session, sqlState } from '../postgres/pool.ts'

/** A change under way: its transaction, who makes it, and when. */
export interface Change {
  readonly session: Session
  readonly project: Project
  readonly principal: Principal
  readonly address: string
  readonly nowMs: number
}

/** What a request brings to a change. */
export interface ChangeContext extends Omit<Change, 'session' | 'nowMs'> {
  readonly sql: TenantSql
}

/** Of one project, deleted ones not counted. */
const flagsMax = 2_000
const cohortsMax = 2_000
/** Filters of one flag or cohort (a check of the tables), and of all of a project's together, as JSON. */
const filtersBytesMax = 256 * 1024
const allFiltersBytesMax = 8 * 1024 * 1024
const checkViolation = '23514'

/** Runs a change in a transaction of its own. */
export function changing<T>(
  { sql, project, principal, address }: ChangeContext,
  clock: Clock,
  body: (change: Change) => Promise<T>,
): Promise<T> {
  return sql.transaction((session) => body({ session, project, principal, address, nowMs: clock.nowMs() }))
}

/** Keeps other writers of the project's definitions out until the transaction ends. */
export async function lockDefinitions({ session, project }: Change): Promise<void> {
  await session.query('select from project where id = $1 for no key update', [project.id])
}

/**
 * Runs a statement that writes filters.
 * Errors: invalid_input for filters that the table's own limit keeps out. Their size is known there only: as jsonb a
 * number is all of its digits.
 */
export async function writingFilters<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    if (sqlState(error) !== checkViolation) throw error
    throw filterFault(`they take more than ${filtersBytesMax / 1024} KiB`)
  }
}

/** To be asked after a write. Errors: invalid_input when the project has more than it may. */
export async function checkRoom({ session, project }: Change): Promise<void> {
  const { rows } = await session.query<{ flags: number; cohorts: number; bytes: number }>(
    `select count(*) filter (where is_flag) as flags, count(*) filter (where not is_flag) as cohorts,
       coalesce(sum(octet_length(filters::text)), 0)::bigint as bytes
     from (select true as is_flag, filters from feature_flag where project_id = $1 and not deleted
           union all select false, filters from cohort where project_id = $1 and not deleted) defined`,
    [project.id],
  )
  const { flags, cohorts, bytes } = rows[0]! // an aggregate has one row
  const limits: [name: string, count: number, max: number][] = [
    ['feature flags', flags, flagsMax],
    ['cohorts', cohorts, cohortsMax],
    ['bytes of filters', bytes, allFiltersBytesMax],
  ]
  for (const [name, count, max] of limits) {
    if (count <= max) continue
    throw new ServiceError('invalid_input', { detail: `This project may have no more than ${max} ${name}.` })
  }
}

/**
 * Errors: invalid_input when `filters` name a cohort or a flag that the project does not have, or would close a
 * circle. `self` is what they belong to; a new one is in no circle yet.
 */
export async function checkReferences(
  { session, project }: Change,
  filters: unknown,
  self: { readonly kind: 'feature_flag' | 'cohort'; readonly id: number } | null,
): Promise<void> {
  const { cohortIds, flagIds } = referencesIn(filters)
  await checkPresent(session, project.id, 'cohort', cohortIds)
  await checkPresent(session, project.id, 'feature_flag', flagIds)
  if (self === null) return
  const idsOf = (tree: unknown): ReadonlySet<number> =>
    self.kind === 'cohort' ? referencesIn(tree).cohortIds : referencesIn(tree).flagIds
  if (idsOf(filters).size === 0) return
  const others = await loadFilters(session, project.id, self.kind)
  const edges = new Map(others.map((one) => [one.id, idsOf(one.filters)]))
  edges.set(self.id, idsOf(filters))
  const cycle = cycleThrough(self.id, (id) => edges.get(id) ?? [])
  if (cycle === null) return
  const names = self.kind === 'cohort' ? 'cohorts' : 'flags'
  throw filterFault(`${names} must not depend on each other in a circle (${[...cycle, self.id].join(' → ')})`)
}

/** What is stored and not deleted: for looking through its references. */
export async function loadFilters(
  session: Session,
  projectId: number,
  table: 'feature_flag' | 'cohort',
): Promise<{ id: number; name: string; filters: unknown }[]> {
  const named = table === 'cohort' ? 'name' : 'key as name'
  const { rows } = await session.query<{ id: number; name: string; filters: unknown }>(
    `select id, ${named}, filters from ${table} where project_id = $1 and not deleted order by id`,
    [projectId],
  )
  return rows
}

async function checkPresent(
  session: Session,
  projectId: number,
  table: 'feature_flag' | 'cohort',
  ids: ReadonlySet<number>,
): Promise<void> {
  if (ids.size === 0) return
  const { rows } = await session.query<{ id: number }>(
    `select id from ${table} where project_id = $1 and not deleted and id = any($2::integer[])`,
    [projectId, [...ids]],
  )
  const present = new Set(rows.map(({ id }) => id))
  const missing = [...ids].find((id) => !present.has(id))
  if (missing === undefined) return
  throw filterFault(`${table === 'cohort' ? 'cohort' : 'feature flag'} ${missing} does not exist`)
}
