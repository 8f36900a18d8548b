// GET /api/organizations/:organization_id/activity/: the audit log, newest first.

import { countedPage } from '../api/counted-page.ts'
import { type Operation, organizationOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { activitySchema, selectActivity } from './activity-rows.ts'

const query = Type.Object({
  scope: Type.Optional(Type.String({ description: 'Only changes of this kind of thing.' })),
  item_id: Type.Optional(Type.String({ description: 'Only changes of the thing of this id.' })),
  user: Type.Optional(Type.String({ format: 'uuid', description: 'Only changes by the user of this uuid.' })),
  ...pageQuery,
})

export function activityList(): Operation {
  return organizationOperation({
    method: 'GET',
    path: '/api/organizations/:organization_id/activity',
    operationId: 'activity_list',
    summary: 'List what was changed by whom, newest first',
    tag: 'organizations',
    query,
    body: null,
    status: 200,
    response: envelopeOf(activitySchema),
    handle: ({ organization, sql, query, request, url }) => {
      const { scope, item_id, user } = query
      return countedPage(sql, {
        select: `${selectActivity}
          where entry.organization_id = $1 and ($2::text is null or scope = $2)
            and ($3::text is null or item_id = $3) and ($4::uuid is null or app_user.uuid = $4)`,
        params: [organization.id, scope || null, item_id || null, user || null],
        order: 'created_at desc, id desc',
        url,
        page: pageOf(request.query),
      })
    },
  })
}
