// DELETE /api/organizations/:id/: an organization with its projects and everything in them. Its rows are gone when the
// answer is sent, and with them its audit log; events and persons follow in the background.

import { type Operation, organizationOperation } from '../api/operation.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { deleteProjects, type ProjectDeletions } from './project-deletions.ts'

export function organizationDelete(
  deletions: Pick<ProjectDeletions, 'carryOut'>,
  clock: Clock,
  log: Pick<Log, 'info'>,
): Operation {
  return organizationOperation({
    method: 'DELETE',
    path: '/api/organizations/:id',
    operationId: 'organizations_destroy',
    summary: 'Delete an organization with everything in it',
    tag: 'organizations',
    query: null,
    body: null,
    status: 204,
    response: null,
    handle: async ({ organization, sql, principal, address }) => {
      await sql.transaction(async (session) => {
        // Projects first, as everybody locks who changes something in one and then writes the organization's audit log.
        await session.query('select from project where organization_id = $1 order by id for update', [
          organization.id,
        ])
        // Nobody adds a project meanwhile.
        await session.query('select from organization where id = $1 for update', [organization.id])
        const { rows } = await session.query<{ id: number }>(
          'select id from project where organization_id = $1 order by id',
          [organization.id],
        )
        await deleteProjects(
          session,
          rows.map(({ id }) => id),
          clock.nowMs(),
        )
        await session.query('delete from organization where id = $1', [organization.id])
      })
      // Its audit log went with it.
      const actor = { organization: organization.id, user: principal.userId, key: principal.keyId, address }
      log.info(actor, 'an organization was deleted')
      void deletions.carryOut()
    },
  })
}
