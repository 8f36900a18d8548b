// /api/projects/:project_id/cohorts/: a project's sets of persons. As with flags, PATCH {"deleted": true} deletes.

import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import type { Clock } from '../lib/clock.ts'
import { type Cohort, cohortInput, cohortSchema, selectCohorts } from './cohort-rows.ts'
import { changeCohort, createCohort, findCohort } from './cohort-writes.ts'
import { changing } from './definition-writes.ts'
import { idOf } from './row-id.ts'
import { containsText, SqlValues } from './sql-values.ts'

const listPath = '/api/projects/:project_id/cohorts'
const itemPath = '/api/projects/:project_id/cohorts/:id'

const listQuery = Type.Object({
  search: Type.Optional(Type.String({ description: 'Only cohorts with this in their name.' })),
  ...pageQuery,
})

export function cohortOperations(clock: Clock): Operation[] {
  const list = projectOperation({
    method: 'GET',
    path: listPath,
    operationId: 'cohorts_list',
    summary: 'List cohorts that are not deleted, newest first',
    tag: 'cohorts',
    query: listQuery,
    body: null,
    status: 200,
    response: envelopeOf(cohortSchema),
    handle: ({ project, sql, query, request, url }) => {
      const values = new SqlValues()
      values.add(project.id, 'integer')
      const found = query.search ? ` and ${containsText('name', query.search, values)}` : ''
      return countedPage<Cohort>(sql, {
        select: `${selectCohorts} and not deleted${found}`,
        params: values.list,
        order: 'created_at desc, id desc',
        url,
        page: pageOf(request.query),
      })
    },
  })
  const create = projectOperation({
    method: 'POST',
    path: listPath,
    operationId: 'cohorts_create',
    summary: 'Create a cohort',
    tag: 'cohorts',
    query: null,
    body: cohortInput,
    status: 201,
    response: cohortSchema,
    handle: ({ body, ...context }) => changing(context, clock, (change) => createCohort(change, body)),
  })
  const item = { path: itemPath, tag: 'cohorts', query: null, status: 200, response: cohortSchema } as const
  const retrieve = projectOperation({
    ...item,
    method: 'GET',
    operationId: 'cohorts_retrieve',
    summary: 'Retrieve a cohort, also a deleted one',
    body: null,
    handle: ({ project, sql, params }) => findCohort({ session: sql, project }, idOf(params.id)),
  })
  const changes = changeOperations(
    {
      input: cohortInput,
      name: 'cohorts',
      put: 'Change a cohort; what may be left out stays as it is',
      patch: 'Change some fields of a cohort, delete it or restore it',
    },
    (verb) =>
      projectOperation({
        ...item,
        ...verb,
        handle: ({ body, params, ...context }) =>
          changing(context, clock, (change) => changeCohort(change, idOf(params.id), body)),
      }),
  )
  return [list, create, retrieve, ...changes]
}
