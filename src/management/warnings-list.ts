// GET /api/projects/:project_id/ingestion_warnings/: what capture dropped or altered, the latest first.

import { countedPage } from '../api/counted-page.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import type { IngestionWarnings } from './ingestion-warnings.ts'

const warningSchema = Type.Object({
  type: Type.Union([Type.Literal('drop'), Type.Literal('warning')]),
  reason: Type.String(),
  count: Type.Integer(),
  first_seen: Type.String({ format: 'date-time' }),
  last_seen: Type.String({ format: 'date-time' }),
  sample: Type.Object({ event: Type.String(), distinct_id: Type.String(), detail: Type.String() }),
})

export function warningsList(warnings: IngestionWarnings): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/ingestion_warnings',
    operationId: 'ingestion_warnings_list',
    summary: 'List ingestion warnings, the latest first',
    tag: 'events',
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(warningSchema),
    handle: async ({ project, sql, request, url }) => {
      // So that the list has what is still being counted.
      await warnings.flush()
      return await countedPage(sql, {
        select: `select kind as type, reason, count, first_seen, last_seen, sample from ingestion_warning
          where project_id = $1`,
        params: [project.id],
        key: ['type', 'reason'],
        order: 'last_seen desc, type, reason',
        url,
        page: pageOf(request.query),
      })
    },
  })
}
