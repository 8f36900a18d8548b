// …/cohorts/:id/add_persons_to_static_cohort/ and …/remove_person_from_static_cohort/: who is in a static cohort.
// Upstream takes them as PATCH, its documentation has POST; both are the same here.

import { type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { recordActivity } from './activity.ts'
import { findCohort } from './cohort-writes.ts'
import { type Change, changing } from './definition-writes.ts'
import { idOf } from './row-id.ts'

/** Of one request; a cohort may have any number. */
const personsMax = 10_000

const personId = Type.String({ format: 'uuid' })

interface Added {
  readonly success: true
  /** Persons that were not in it before. */
  readonly added: number
  /** Ids that are nobody's. */
  readonly unknown_person_ids: readonly string[]
}

export function cohortMemberOperations(clock: Clock): Operation[] {
  const add = (method: 'POST' | 'PATCH'): Operation =>
    projectOperation({
      method,
      path: '/api/projects/:project_id/cohorts/:id/add_persons_to_static_cohort',
      operationId: `cohorts_add_persons_${method.toLowerCase()}`,
      summary: 'Put persons into a static cohort',
      tag: 'cohorts',
      query: null,
      body: Type.Object({ person_ids: Type.Array(personId, { maxItems: personsMax }) }),
      status: 200,
      response: Type.Object({
        success: Type.Boolean(),
        added: Type.Integer(),
        unknown_person_ids: Type.Array(Type.String()),
      }),
      handle: ({ body, params, ...context }) =>
        changing(context, clock, (change) => addPersons(change, idOf(params.id), body.person_ids)),
    })
  const remove = (method: 'POST' | 'PATCH'): Operation =>
    projectOperation({
      method,
      path: '/api/projects/:project_id/cohorts/:id/remove_person_from_static_cohort',
      operationId: `cohorts_remove_person_${method.toLowerCase()}`,
      summary: 'Take a person out of a static cohort',
      tag: 'cohorts',
      query: null,
      body: Type.Object({ person_id: personId }),
      status: 200,
      response: Type.Object({ success: Type.Boolean() }),
      handle: ({ body, params, ...context }) =>
        changing(context, clock, (change) => removePerson(change, idOf(params.id), body.person_id)),
    })
  return [add('POST'), add('PATCH'), remove('POST'), remove('PATCH')]
}

async function addPersons(change: Change, cohortId: number, personIds: readonly string[]): Promise<Added> {
  const { session, project } = change
  await checkStatic(change, cohortId)
  // Holds their rows until the transaction ends: a person that is merged or deleted after it takes its cohorts along.
  const { rows } = await session.query<{ uuid: string }>(
    'select uuid from hold_persons($1, $2::uuid[]) as held (uuid)',
    [project.id, personIds],
  )
  const found = new Set(rows.map(({ uuid }) => uuid))
  const { rowCount: added } = await session.query(
    `insert into cohort_person (project_id, cohort_id, person_uuid)
     select $1, $2, uuid from unnest($3::uuid[]) as held (uuid) on conflict do nothing`,
    [project.id, cohortId, [...found]],
  )
  if (added > 0) await note(change, cohortId, 'persons_added', { before: null, after: added })
  const unknown = personIds.filter((id) => !found.has(canonical(id)))
  return { success: true, added, unknown_person_ids: unknown }
}

async function removePerson(change: Change, cohortId: number, personId: string): Promise<{ success: true }> {
  const { session, project } = change
  await checkStatic(change, cohortId)
  const { rowCount } = await session.query(
    'delete from cohort_person where project_id = $1 and cohort_id = $2 and person_uuid = $3',
    [project.id, cohortId, personId],
  )
  if (rowCount === 0) {
    throw new ServiceError('not_found', { detail: 'Person is not part of the cohort.' })
  }
  await note(change, cohortId, 'person_removed', { before: personId, after: null })
  return { success: true }
}

async function checkStatic(change: Change, cohortId: number): Promise<void> {
  const cohort = await findCohort(change, cohortId)
  if (cohort.deleted) throw new ServiceError('not_found')
  if (cohort.is_static) return
  throw new ServiceError('invalid_input', { detail: 'Persons can be put into static cohorts only.' })
}

async function note(
  { session, project, nowMs, ...actor }: Change,
  cohortId: number,
  activity: string,
  values: { before: unknown; after: unknown },
): Promise<void> {
  const changes = [{ field: 'persons', ...values }]
  const entry = {
    organizationId: project.organization.id,
    projectId: project.id,
    activity,
    scope: 'Cohort',
    itemId: cohortId,
    changes,
  }
  await recordActivity(session, actor, entry, nowMs)
}

/** A uuid as Postgres prints it. */
function canonical(uuid: string): string {
  const hex = uuid.replaceAll('-', '').toLowerCase()
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
