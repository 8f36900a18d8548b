// Personal API keys in the audit log: a key opens organizations, and each of them is told what becomes of it. Which
// others it opens is nobody's business there.

import type { Principal } from '../api/principal.ts'
import type { Session } from '../postgres/pool.ts'
import { type Actor, changesBetween, recordActivity } from './activity.ts'
import type { PersonalKeyRow } from './personal-key-rows.ts'

const told = ['label', 'mask_value', 'scopes', 'scoped_organizations', 'scoped_teams', 'expires_at']
const masked = ['scoped_organizations', 'scoped_teams']

/** Writes an entry for each organization that the key opened before or opens after. Null: it was not, or is no more. */
export async function recordKeyActivity(
  session: Session,
  actor: Actor & { readonly principal: Principal },
  activity: 'created' | 'updated' | 'rolled' | 'deleted',
  before: PersonalKeyRow | null,
  after: PersonalKeyRow | null,
  nowMs: number,
): Promise<void> {
  const changes = changesBetween(before ?? {}, after ?? {}, told, masked)
  const itemId = after?.id ?? before?.id ?? ''
  if (changes.length === 0) return
  const opened = new Set<string>()
  for (const key of [before, after]) {
    if (key !== null) for (const id of await openedBy(session, actor.principal.userId, key)) opened.add(id)
  }
  for (const organizationId of opened) {
    const entry = { organizationId, activity, scope: 'PersonalAPIKey', itemId, changes }
    await recordActivity(session, actor, entry, nowMs)
  }
}

async function openedBy(session: Session, userId: number, key: PersonalKeyRow): Promise<string[]> {
  const { rows } = await session.query<{ organization_id: string }>(
    `select organization_id from membership
     where user_id = $1 and ($2::uuid[] = '{}' or organization_id = any ($2))
       and ($3::integer[] = '{}' or exists (select from project
         where project.organization_id = membership.organization_id and id = any ($3)))
     order by organization_id`,
    [userId, key.scoped_organizations, key.scoped_teams],
  )
  return rows.map(({ organization_id }) => organization_id)
}
