// DELETE /api/projects/:project_id/persons/:uuid/: removes a person, and its events when asked.

import { Type } from 'typebox'
import { type Operation, projectOperation } from '../api/operation.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Commands } from './commands.ts'
import { uuidPattern } from './person-detail.ts'

const query = Type.Object({
  delete_events: Type.Optional(
    Type.Boolean({ default: false, description: 'Also delete the events received so far.' }),
  ),
})

export function personDelete(commands: Commands, clock: Clock): Operation {
  return projectOperation({
    method: 'DELETE',
    path: '/api/projects/:project_id/persons/:uuid',
    operationId: 'persons_destroy',
    summary: 'Delete a person, and its events when asked',
    tag: 'persons',
    query,
    body: null,
    status: 204,
    response: null,
    handle: async ({ project, sql, params: { uuid = '' }, query: { delete_events } }) => {
      if (!uuidPattern.test(uuid)) throw new ServiceError('not_found')
      const { rowCount } = await sql.query(
        'select from person where project_id = $1::integer and uuid = $2::uuid',
        [project.id, uuid],
      )
      if (rowCount === 0) throw new ServiceError('not_found')
      await commands.carryOut({
        command: 'delete_person',
        projectId: project.id,
        personUuid: uuid.toLowerCase(),
        deletesEvents: delete_events === true,
        deletedAtMs: clock.nowMs(),
      })
    },
  })
}
