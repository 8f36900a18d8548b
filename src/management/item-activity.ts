// …/activity/ of a kind of thing in a project, and of one of them: the audit log, newest first.

import { countedPage } from '../api/counted-page.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { activitySchema, selectActivity } from './activity-rows.ts'
import { idOf } from './row-id.ts'

interface ItemKind {
  /** Of the resource, in the path. */
  readonly resource: string
  /** In the audit log. */
  readonly scope: string
}

/** The two lists of a kind of thing. */
export function itemActivityOperations({ resource, scope }: ItemKind): Operation[] {
  const described = {
    method: 'GET',
    tag: resource,
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(activitySchema),
  } as const
  const order = 'created_at desc, id desc'
  const selectItems = `${selectActivity} where entry.project_id = $2 and scope = $1 and entry.organization_id = $3`
  const all = projectOperation({
    ...described,
    path: `/api/projects/:project_id/${resource}/activity`,
    operationId: `${resource}_all_activity_list`,
    summary: 'List who changed what, newest first',
    handle: ({ project, sql, request, url }) =>
      countedPage(sql, {
        select: selectItems,
        params: [scope, project.id, project.organization.id],
        order,
        url,
        page: pageOf(request.query),
      }),
  })
  const one = projectOperation({
    ...described,
    path: `/api/projects/:project_id/${resource}/:id/activity`,
    operationId: `${resource}_activity_list`,
    summary: 'List who changed this one, newest first',
    handle: ({ project, sql, request, url, params }) =>
      countedPage(sql, {
        select: `${selectItems} and item_id = $4`,
        params: [scope, project.id, project.organization.id, String(idOf(params.id))],
        order,
        url,
        page: pageOf(request.query),
      }),
  })
  return [all, one]
}
