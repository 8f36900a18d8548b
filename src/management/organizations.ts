// /api/organizations/: the organizations of the caller, listed, read and changed. The example of a resource: one
// declared schema for POST, PUT and PATCH, statements that see the caller's tenants only, each change with its line in
// the audit log.

import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { type Operation, organizationOperation, userOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import type { Clock } from '../lib/clock.ts'
import type { Session } from '../postgres/pool.ts'
import { type Actor, changesBetween, recordActivity } from './activity.ts'
import {
  findOrganization,
  type OrganizationInput,
  type OrganizationRow,
  organizationFields,
  organizationInput,
  organizationSchema,
  selectOrganizations,
  writeOrganization,
} from './organization-rows.ts'

export function organizationOperations(clock: Clock): Operation[] {
  const list = userOperation({
    method: 'GET',
    path: '/api/organizations',
    operationId: 'organizations_list',
    summary: 'List organizations of the caller',
    tag: 'organizations',
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(organizationSchema),
    handle: ({ principal, sql, request, url }) => {
      const page = pageOf(request.query)
      return countedPage<OrganizationRow>(sql, {
        select: selectOrganizations,
        params: [principal.userId],
        order: 'id',
        url,
        page,
      })
    },
  })

  const retrieve = organizationOperation({
    method: 'GET',
    path: '/api/organizations/:id',
    operationId: 'organizations_retrieve',
    summary: 'Retrieve an organization',
    tag: 'organizations',
    query: null,
    body: null,
    status: 200,
    response: organizationSchema,
    handle: ({ principal, organization, sql }) => findOrganization(sql, principal.userId, organization.id),
  })

  const changes = changeOperations(
    {
      input: organizationInput,
      name: 'organizations',
      put: 'Change an organization; what may be left out stays as it is',
      patch: 'Change some fields of an organization',
    },
    (verb) =>
      organizationOperation({
        ...verb,
        path: '/api/organizations/:id',
        tag: 'organizations',
        query: null,
        status: 200,
        response: organizationSchema,
        handle: ({ organization, sql, body, ...actor }) =>
          sql.transaction((session) =>
            changeOrganization(session, actor, organization.id, body, clock.nowMs()),
          ),
      }),
  )
  return [list, retrieve, ...changes]
}

async function changeOrganization(
  session: Session,
  actor: Actor & { readonly principal: { readonly userId: number } },
  id: string,
  input: Partial<OrganizationInput>,
  nowMs: number,
): Promise<OrganizationRow> {
  const { userId } = actor.principal
  await session.query('select from organization where id = $1 for update', [id])
  const before = await findOrganization(session, userId, id)
  await writeOrganization(session, id, input, nowMs)
  const after = await findOrganization(session, userId, id)
  const changes = changesBetween(before, after, organizationFields)
  const entry = { organizationId: id, activity: 'updated', scope: 'Organization', itemId: id, changes }
  if (changes.length > 0) await recordActivity(session, actor, entry, nowMs)
  return after
}
