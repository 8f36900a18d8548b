// How a cohort is made and changed: what is checked, and in which order.

import { ServiceError } from '../errors.ts'
import { checkCohortFilters } from '../flags/check-cohort.ts'
import { filterFault } from '../flags/check-property.ts'
import { type JsonObject, listIn, objectIn } from '../flags/json-value.ts'
import { referencesIn } from '../flags/references.ts'
import { changesBetween, recordActivity } from './activity.ts'
import { type Cohort, type CohortInput, cohortFields, selectCohorts } from './cohort-rows.ts'
import {
  type Change,
  checkReferences,
  checkRoom,
  loadFilters,
  lockDefinitions,
  writingFilters,
} from './definition-writes.ts'

/** Makes a cohort. Errors: whatever is wrong with it; nothing is made then. */
export async function createCohort(change: Change, input: CohortInput): Promise<Cohort> {
  const { session, project, principal, nowMs } = change
  const isStatic = input.is_static === true
  const filters = checkedFilters(isStatic, input.filters ?? {})
  await lockDefinitions(change)
  await checkReferences(change, filters, null)
  const { rows } = await writingFilters(
    session.query<{ id: number }>(
      `insert into cohort (project_id, name, description, is_static, filters, created_at, updated_at, created_by)
       values ($1, $2, $3, $4, $5, to_timestamp($6), to_timestamp($6), $7) returning id`,
      [
        project.id,
        input.name,
        input.description ?? '',
        isStatic,
        JSON.stringify(filters),
        nowMs / 1000,
        principal.userId,
      ],
    ),
  )
  await checkRoom(change)
  const created = await findCohort(change, rows[0]!.id) // an insert that returns has one row
  await note(change, 'created', {}, created)
  return created
}

/** Changes what `input` has. Errors: whatever is wrong with the change. */
export async function changeCohort(change: Change, id: number, input: Partial<CohortInput>): Promise<Cohort> {
  const { session, project, nowMs } = change
  await lockDefinitions(change)
  const before = await findCohort(change, id)
  if (input.is_static !== undefined && input.is_static !== before.is_static) {
    const detail = 'A cohort cannot become static, or cease to be.'
    throw new ServiceError('invalid_input', { detail, attr: 'is_static' })
  }
  const filters =
    input.filters === undefined ? before.filters : checkedFilters(before.is_static, input.filters)
  const deleted = input.deleted ?? before.deleted
  if (!deleted) await checkReferences(change, filters, { kind: 'cohort', id })
  if (deleted && !before.deleted) await checkUnused(change, before)
  await writingFilters(
    session.query(
      `update cohort set name = $3, description = $4, filters = $5, deleted = $6, updated_at = to_timestamp($7)
       where project_id = $1 and id = $2`,
      [
        project.id,
        id,
        input.name ?? before.name,
        input.description ?? before.description,
        JSON.stringify(filters),
        deleted,
        nowMs / 1000,
      ],
    ),
  )
  await checkRoom(change)
  const after = await findCohort(change, id)
  await note(change, deleted && !before.deleted ? 'deleted' : 'updated', before, after)
  return after
}

/** Errors: not_found for one that the project never had. */
export async function findCohort(
  { session, project }: Pick<Change, 'session' | 'project'>,
  id: number,
): Promise<Cohort> {
  const { rows } = await session.query<Cohort>(`${selectCohorts} and id = $2`, [project.id, id])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}

/** What is stored of `filters`. Forms send an empty tree for a static cohort, which has none. */
function checkedFilters(isStatic: boolean, filters: JsonObject): JsonObject {
  if (!isStatic) {
    checkCohortFilters(filters)
    return { properties: filters.properties }
  }
  if (listIn(objectIn(filters.properties)?.values).length > 0)
    throw filterFault('a static cohort has persons instead of filters')
  return {}
}

/** Whatever names a cohort could not be evaluated without it. */
async function checkUnused({ session, project }: Change, cohort: Cohort): Promise<void> {
  for (const table of ['feature_flag', 'cohort'] as const) {
    const users = (await loadFilters(session, project.id, table)).filter(({ filters }) =>
      referencesIn(filters).cohortIds.has(cohort.id),
    )
    if (users.length === 0) continue
    const names = users
      .slice(0, 10)
      .map(({ name }) => name)
      .join(', ')
    const what = table === 'cohort' ? 'cohorts' : 'feature flags'
    const detail = `This cohort is used in ${what}: ${names}. Remove it there before deleting it.`
    throw new ServiceError('invalid_input', { detail, attr: 'deleted' })
  }
}

async function note(change: Change, activity: string, before: object, after: Cohort): Promise<void> {
  const changes = changesBetween(before, after, cohortFields)
  if (changes.length === 0) return
  const organizationId = change.project.organization.id
  const projectId = change.project.id
  const entry = { organizationId, projectId, activity, scope: 'Cohort', itemId: after.id, changes }
  await recordActivity(change.session, change, entry, change.nowMs)
}
