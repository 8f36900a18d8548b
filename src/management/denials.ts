// Denied attempts in the audit log of the organization they were made on. They are few, or somebody is trying: what is
// more than a user or an organization should have in an hour is not written down, so that nobody fills the disk with
// them.

import { tenantIn } from '../api/access.ts'
import type { Denial } from '../api/operation-routes.ts'
import { Meter } from '../api/rate-limit.ts'
import type { Clock } from '../lib/clock.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import { recordActivity } from './activity.ts'
import { uuidPattern } from './person-detail.ts'

const current = '@current'
const hourMs = 3_600_000
const perUser = 30
const perOrganization = 100

interface Place {
  readonly organization_id: string
  readonly project_id: number | null
}

/** Makes what is told of each denial; it never fails. */
export function openDenials(postgres: Postgres, clock: Clock, log: Log): (denial: Denial) => Promise<void> {
  const users = new Meter([{ count: perUser, ms: hourMs }], clock)
  const organizations = new Meter([{ count: perOrganization, ms: hourMs }], clock)
  const note = async (denial: Denial): Promise<void> => {
    const { principal, address, method, path, detail } = denial
    const user = String(principal.userId)
    if (users.waitMs(user) > 0) return
    users.count(user)
    const place = await findPlace(postgres, denial)
    if (place === null || organizations.waitMs(place.organization_id) > 0) return
    organizations.count(place.organization_id)
    const { organization_id: organizationId, project_id: projectId } = place
    const entry = {
      organizationId,
      ...(projectId === null ? {} : { projectId }),
      activity: 'denied',
      scope: 'Request',
      itemId: `${method} ${path}`,
      changes: [{ field: 'detail', before: null, after: detail }],
    }
    await recordActivity(postgres, { principal, address }, entry, clock.nowMs())
  }
  return async (denial) => {
    try {
      await note(denial)
    } catch (error) {
      log.debug({ err: error }, 'a denied attempt was not noted')
    }
  }
}

/**
 * The organization of the path, also when the caller is not in it, else the caller's current one. A project that is
 * closed to the caller is not looked for: how long that takes would tell that it exists.
 */
async function findPlace(postgres: Postgres, { principal, path, params }: Denial): Promise<Place | null> {
  const { userId, currentOrganizationId, currentProjectId } = principal
  const tenant = tenantIn(path)
  const given = tenant === null || tenant.param === null ? current : (params[tenant.param] ?? '')
  if (tenant?.kind === 'project') {
    const id = given === current ? currentProjectId : Number(/^\d{1,9}$/.exec(given)?.[0] ?? Number.NaN)
    if (id === null || Number.isNaN(id)) return null
    const { rows } = await postgres.query<Place>(
      'select organization_id, project_id from project_entrance where project_id = $1 and user_id = $2',
      [id, userId],
    )
    return rows[0] ?? null
  }
  const id = given === current ? currentOrganizationId : given
  if (id === null || !uuidPattern.test(id)) return null
  const { rows } = await postgres.query<Place>(
    'select id as organization_id, null as project_id from organization where id = $1',
    [id],
  )
  return rows[0] ?? null
}
