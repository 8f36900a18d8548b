// An invite and what goes with it: nobody gives more than they have, one invite an address, and a token that only the
// mail knows.

import { randomBytes } from 'node:crypto'
import { type Level, levels } from '../api/access.ts'
import { base62, hashKey } from '../api/keys.ts'
import type { Organization } from '../api/tenant.ts'
import { ServiceError } from '../errors.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'
import { type Actor, recordActivity } from './activity.ts'
import {
  type GivenAccess,
  type Invite,
  type InviteInput,
  inviteDaysMax,
  type ProjectAccess,
  selectInvites,
} from './invite-rows.ts'
import { holdOrganization } from './organization-rows.ts'

export interface NewInvite {
  readonly invite: Invite
  /** For the mail, and for nobody else. */
  readonly token: string
}

export interface Inviter extends Actor {
  readonly principal: { readonly userId: number; readonly keyId: string }
  readonly organization: Organization
}

interface InviteTime {
  readonly nowMs: number
  /** Keeps the order of invites that are made at once, µs. */
  readonly index: number
}

const tokenBytes = 32
/** With the organization: its invites are made one after another. */
const lockId = 7_063_002

/**
 * Takes turns with everybody who invites into the organization. Resolves with the inviter's level, which stays until
 * the transaction ends. Errors: permission_denied for who has left meanwhile.
 */
export async function lockInvites(session: Session, organizationId: string, userId: number): Promise<Level> {
  await session.query('select pg_advisory_xact_lock($1, hashtext($2))', [lockId, organizationId])
  await holdOrganization(session, organizationId)
  const { rows } = await session.query<{ level: Level }>(
    'select level from membership where organization_id = $1 and user_id = $2',
    [organizationId, userId],
  )
  if (rows[0] === undefined) throw new ServiceError('permission_denied')
  return rows[0].level
}

/** Takes the invites back that somebody whose level is now `level`, or 0, could not make any more. */
export async function endInvites(
  session: Session,
  actor: Actor,
  { organizationId, userId, level }: { organizationId: string; userId: number; level: number },
  nowMs: number,
): Promise<void> {
  const { rows } = await session.query<{ id: string; target_email: string }>(
    `delete from organization_invite where organization_id = $1 and created_by = $2 and level > $3
     returning id, target_email`,
    [organizationId, userId, level],
  )
  for (const { id, target_email } of rows) {
    const changes = [{ field: 'target_email', before: target_email, after: null }]
    const entry = { organizationId, activity: 'deleted', scope: 'OrganizationInvite', itemId: id, changes }
    await recordActivity(session, actor, entry, nowMs)
  }
}

/**
 * Makes an invite in place of the older ones of its address. `isMailed`: whether a mail will be tried.
 * Errors: permission_denied for a level above the inviter's, invalid_input for members and projects that are not.
 */
export async function createInvite(
  session: Session,
  inviter: Inviter,
  input: InviteInput,
  isMailed: boolean,
  time: InviteTime,
): Promise<NewInvite> {
  const { organization } = inviter
  const email = input.target_email
  if ((input.level ?? levels.member) > organization.level) {
    const detail = 'You cannot invite a user with a higher permission level than your own.'
    throw new ServiceError('permission_denied', { detail })
  }
  await checkProjects(session, inviter, input.private_project_access ?? [])
  await checkStranger(session, organization.id, email)
  const by = inviter.principal.userId
  const { level, access } = await replacePending(session, organization.id, input, by, time.nowMs)
  const token = base62(randomBytes(tokenBytes))
  const id = makeUuidV7(time.nowMs)
  await session.query(
    `insert into organization_invite (id, organization_id, target_email, first_name, level, message,
       private_project_access, send_email, combine_pending_invites, emailing_attempt_made, token_hash, created_by,
       created_at, updated_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, moment, moment
     from (select to_timestamp($13) + make_interval(secs => $14 / 1e6) as moment) now`,
    [
      id,
      organization.id,
      email,
      input.first_name ?? '',
      level,
      input.message ?? null,
      access === null ? null : JSON.stringify(access),
      input.send_email ?? true,
      input.combine_pending_invites ?? false,
      isMailed,
      hashKey(token),
      inviter.principal.userId,
      time.nowMs / 1000,
      time.index,
    ],
  )
  const changes = [
    { field: 'target_email', before: null, after: email },
    { field: 'level', before: null, after: level },
  ]
  const entry = {
    organizationId: organization.id,
    activity: 'created',
    scope: 'OrganizationInvite',
    itemId: id,
    changes,
  }
  await recordActivity(session, inviter, entry, time.nowMs)
  const { rows } = await session.query<Invite>(`${selectInvites} and invite.id = $3`, [
    organization.id,
    time.nowMs / 1000,
    id,
  ])
  return { invite: rows[0]!, token } // it was just inserted
}

/** Errors: invalid_input for somebody who is a member already. */
export async function checkStranger(session: Session, organizationId: string, email: string): Promise<void> {
  const { rowCount } = await session.query(
    `select from membership join app_user on app_user.id = membership.user_id
     where membership.organization_id = $1 and lower(app_user.email) = lower($2)`,
    [organizationId, email],
  )
  if (rowCount > 0) throw alreadyMember()
}

export function alreadyMember(): ServiceError {
  const detail = 'A user with this email address already belongs to the organization.'
  return new ServiceError('invalid_input', { detail })
}

interface Granted {
  readonly level: number
  readonly access: readonly GivenAccess[] | null
}

/** Removes the older invites of the address and returns what the new one grants, together with theirs when asked. */
async function replacePending(
  session: Session,
  organizationId: string,
  input: InviteInput,
  by: number,
  nowMs: number,
): Promise<Granted> {
  const { rows } = await session.query<Granted & { isPending: boolean }>(
    `delete from organization_invite
     where organization_id = $1 and lower(target_email) = lower($2)
     returning level, private_project_access as access,
       created_at > to_timestamp($3) - interval '${inviteDaysMax} days' as "isPending"`,
    [organizationId, input.target_email, nowMs / 1000],
  )
  const { private_project_access: given = [] } = input
  const asked: Granted = {
    level: input.level ?? levels.member,
    // As upstream has it: a list that says nothing is no list.
    access:
      given === null || (given.length === 0 && input.private_project_access !== undefined)
        ? null
        : given.map((one) => ({ ...one, by })),
  }
  if (input.combine_pending_invites !== true) return asked
  const pending = rows.filter((row) => row.isPending)
  if (pending.length === 0) return asked
  return {
    level: Math.max(asked.level, ...pending.map((row) => row.level)),
    access: highestOf([asked, ...pending].flatMap((one) => one.access ?? [])),
  }
}

/** One entry a project, with the highest of its levels, in the order in which they came. */
function highestOf(access: readonly GivenAccess[]): GivenAccess[] {
  const byProject = new Map<number, GivenAccess>()
  for (const one of access) {
    const known = byProject.get(one.id)
    if (known === undefined || projectLevel(one) > projectLevel(known)) byProject.set(one.id, one)
  }
  return [...byProject.values()]
}

/** Levels have numbers, and the names that later versions of the API give them. */
export function projectLevel({ level }: ProjectAccess): 1 | 8 {
  return level === 8 || level === 'admin' ? levels.administrator : levels.member
}

/** Errors: invalid_input for projects that are not the organization's, that the inviter may not see, or not manage. */
async function checkProjects(
  session: Session,
  { organization }: Inviter,
  access: readonly ProjectAccess[],
): Promise<void> {
  if (access.length === 0) return
  const { rows } = await session.query<{ id: number; level: number | null }>(
    `select id, spate_project_level(id) as level from project
     where organization_id = $1 and id = any ($2::bigint[])`,
    [organization.id, access.map(({ id }) => id)],
  )
  const own = new Map(rows.map(({ id, level }) => [id, level]))
  for (const one of access) {
    const level = own.get(one.id) ?? null
    if (level === null) {
      throw accessFault(
        'Project does not exist on this organization, or it is private and you do not have access to it.',
      )
    }
    if (projectLevel(one) > level) {
      throw accessFault('You cannot invite to a private project with a higher level than your own.')
    }
  }
}

function accessFault(detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail, attr: 'private_project_access' })
}
