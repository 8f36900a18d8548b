// DELETE /api/projects/:project_id/persons/:uuid/: removes a person, and its events when asked.

import { type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { recordActivity } from './activity.ts'
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
    handle: async ({ project, sql, principal, address, params: { uuid = '' }, query }) => {
      if (!uuidPattern.test(uuid)) throw new ServiceError('not_found')
      const personUuid = uuid.toLowerCase()
      const deletesEvents = query.delete_events === true
      const deletedAtMs = clock.nowMs()
      // The journal takes part in no transaction: an entry too many is better than a deletion without one.
      await sql.transaction(async (session) => {
        const { rowCount } = await session.query(
          'select from person where project_id = $1::integer and uuid = $2::uuid',
          [project.id, personUuid],
        )
        if (rowCount === 0) throw new ServiceError('not_found')
        const changes = [{ field: 'delete_events', before: null, after: deletesEvents }]
        const organizationId = project.organization.id
        const projectId = project.id
        const entry = {
          organizationId,
          projectId,
          activity: 'deleted',
          scope: 'Person',
          itemId: personUuid,
          changes,
        }
        await recordActivity(session, { principal, address }, entry, deletedAtMs)
      })
      const command = 'delete_person'
      await commands.carryOut({ command, projectId: project.id, personUuid, deletesEvents, deletedAtMs })
    },
  })
}
