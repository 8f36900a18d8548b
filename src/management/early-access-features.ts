// /api/projects/:project_id/early_access_feature/: features that persons may opt into.

import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { changing } from './definition-writes.ts'
import {
  type EarlyAccessFeature,
  earlyAccessInput,
  earlyAccessSchema,
  newEarlyAccessInput,
  selectEarlyAccess,
} from './early-access-rows.ts'
import {
  changeEarlyAccess,
  createEarlyAccess,
  deleteEarlyAccess,
  findEarlyAccess,
} from './early-access-writes.ts'

const tag = 'early_access_feature'
const listPath = '/api/projects/:project_id/early_access_feature'
const itemPath = '/api/projects/:project_id/early_access_feature/:id'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const item = { path: itemPath, tag, query: null, status: 200, response: earlyAccessSchema } as const

export function earlyAccessOperations(clock: Clock): Operation[] {
  const list = projectOperation({
    method: 'GET',
    path: listPath,
    operationId: 'early_access_feature_list',
    summary: 'List early access features, newest first',
    tag,
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(earlyAccessSchema),
    handle: ({ project, sql, request, url }) =>
      countedPage<EarlyAccessFeature>(sql, {
        select: selectEarlyAccess,
        params: [project.id],
        order: 'created_at desc, id desc',
        url,
        page: pageOf(request.query),
      }),
  })
  const create = projectOperation({
    method: 'POST',
    path: listPath,
    operationId: 'early_access_feature_create',
    summary: 'Create an early access feature, and its flag when none is named',
    tag,
    query: null,
    body: newEarlyAccessInput,
    status: 201,
    response: earlyAccessSchema,
    handle: ({ body, ...context }) => changing(context, clock, (change) => createEarlyAccess(change, body)),
  })
  const retrieve = projectOperation({
    ...item,
    method: 'GET',
    operationId: 'early_access_feature_retrieve',
    summary: 'Retrieve an early access feature',
    body: null,
    handle: ({ project, sql, params }) => findEarlyAccess({ session: sql, project }, uuidOf(params.id)),
  })
  const changes = changeOperations(
    {
      input: earlyAccessInput,
      name: 'early_access_feature',
      put: 'Change an early access feature; what may be left out stays as it is',
      patch: 'Change some fields of an early access feature',
    },
    (verb) =>
      projectOperation({
        ...item,
        ...verb,
        handle: ({ body, params, ...context }) =>
          changing(context, clock, (change) => changeEarlyAccess(change, uuidOf(params.id), body)),
      }),
  )
  return [list, create, retrieve, ...changes, destroy(clock)]
}

function destroy(clock: Clock): Operation {
  return projectOperation({
    method: 'DELETE',
    path: itemPath,
    operationId: 'early_access_feature_destroy',
    summary: 'Delete an early access feature; its flag stays, open to nobody for having opted in',
    tag,
    query: null,
    body: null,
    status: 204,
    response: null,
    handle: ({ params, ...context }) =>
      changing(context, clock, (change) => deleteEarlyAccess(change, uuidOf(params.id))),
  })
}

/** Errors: not_found for what can be nobody's. */
function uuidOf(param: string | undefined): string {
  if (param !== undefined && uuid.test(param)) return param
  throw new ServiceError('not_found')
}
