// POST /api/organizations/:organization_id/invites/:id/accept/: whoever has the token of an invite becomes a member. It
// takes no key: the token came by mail, so it stands for the owner of the address. It works once.
//
// The caller belongs to no tenant yet, so the statements run without walls; each names the organization of the invite.
// An account that exists already gets the membership and no key: a mail that went astray opens one organization, not
// everything its reader was meant to have elsewhere.

import type { Static } from 'typebox'
import { hashKey } from '../api/keys.ts'
import { type Operation, publicOperation } from '../api/operation.ts'
import { RateLimit } from '../api/rate-limit.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Mail } from '../mail/transport.ts'
import type { Postgres, Session } from '../postgres/pool.ts'
import { findOrMakeAccount, makeAccountKey } from './account.ts'
import { recordActivity } from './activity.ts'
import { alreadyMember, checkStranger, projectLevel } from './invite-create.ts'
import { joinMail } from './invite-mail.ts'
import { type GivenAccess, inviteDaysMax } from './invite-rows.ts'
import { holdOrganization } from './organization-rows.ts'
import { uuidPattern } from './person-detail.ts'
import { userJson, userSchema } from './user-rows.ts'

const input = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 200 }),
  first_name: Type.Optional(Type.String({ maxLength: 150 })),
  last_name: Type.Optional(Type.String({ maxLength: 150 })),
})

type Input = Static<typeof input>

const response = Type.Object({
  organization: Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }),
  user: userSchema,
  level: Type.Integer(),
  personal_api_key: Type.Union([Type.String(), Type.Null()], {
    description: 'Of a new account, shown this once; null for somebody who has an account already.',
  }),
})

type Accepted = Static<typeof response>

interface AcceptOptions {
  readonly postgres: Postgres
  readonly mailer: Mailer
  readonly clock: Clock
}

/** Members at most who are told that somebody has joined. */
const toldMax = 100

export function inviteAccept({ postgres, mailer, clock }: AcceptOptions): Operation {
  const limit = new RateLimit(clock)
  return publicOperation({
    method: 'POST',
    path: '/api/organizations/:organization_id/invites/:id/accept',
    operationId: 'invites_accept_create',
    summary: 'Become a member with the token of an invite; makes an account and its key for who has none',
    tag: 'invites',
    query: null,
    body: input,
    status: 201,
    response,
    handle: async ({ params, body, address }) => {
      const tokenHash = hashKey(body.token)
      limit.checkAddress(address, tokenHash)
      const nowMs = clock.nowMs()
      const joined = await postgres.transaction(async (session) => {
        const invite = await takeInvite(session, params, tokenHash, nowMs)
        if (invite === null) return null
        const accepted = await join(session, invite, body, address, nowMs)
        return { accepted, mails: await joinMails(session, accepted) }
      })
      if (joined === null) {
        limit.countFailure(address)
        const detail = 'There is no such invite, or it has expired or been accepted.'
        throw new ServiceError('not_found', { detail })
      }
      if (mailer.isConfigured) for (const mail of joined.mails) mailer.send(mail)
      return joined.accepted
    },
  })
}

interface TakenInvite {
  readonly id: string
  readonly organization_id: string
  readonly target_email: string
  readonly first_name: string
  readonly level: number
  readonly private_project_access: readonly GivenAccess[] | null
  /** Null for somebody who is gone. */
  readonly created_by: number | null
}

/** Removes the invite, so that of two who come at once one finds none. Null for a token that is not good. */
async function takeInvite(
  session: Session,
  { organization_id = '', id = '' }: Readonly<Record<string, string>>,
  tokenHash: string,
  nowMs: number,
): Promise<TakenInvite | null> {
  if (!uuidPattern.test(organization_id) || !uuidPattern.test(id)) return null
  // Before the invite's row, as everybody does who changes members and invites.
  await holdOrganization(session, organization_id)
  const { rows } = await session.query<TakenInvite>(
    `delete from organization_invite
     where id = $1 and organization_id = $2 and token_hash = $3
       and created_at > to_timestamp($4) - interval '${inviteDaysMax} days'
     returning id, organization_id, target_email, first_name, level, private_project_access, created_by`,
    [id, organization_id, tokenHash, nowMs / 1000],
  )
  return rows[0] ?? null
}

async function join(
  session: Session,
  invite: TakenInvite,
  body: Input,
  address: string,
  nowMs: number,
): Promise<Accepted> {
  const { organization_id: organizationId, level } = invite
  await checkStranger(session, organizationId, invite.target_email)
  const account = await findOrMakeAccount(
    session,
    {
      email: invite.target_email,
      firstName: body.first_name || invite.first_name,
      lastName: body.last_name ?? '',
      isEmailVerified: true,
    },
    nowMs,
  )
  const seconds = nowMs / 1000
  const { rowCount } = await session.query(
    `insert into membership (id, organization_id, user_id, level, joined_at, updated_at)
     values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5))
     on conflict (organization_id, user_id) do nothing`,
    [makeUuidV7(nowMs), organizationId, account.id, level, seconds],
  )
  // Another invite of the same address was accepted at this very moment.
  if (rowCount === 0) throw alreadyMember()
  await grantProjects(session, invite, account.id, seconds)
  await session.query(
    `update app_user set current_organization_id = $2,
       current_project_id = (
         select min(project_id) from project_entrance where organization_id = $2 and user_id = $1)
     where id = $1`,
    [account.id, organizationId],
  )
  const key = account.isNew ? await makeAccountKey(session, account.id, 'First key', nowMs) : null
  const changes = [{ field: 'level', before: null, after: level }]
  const item = { scope: 'OrganizationMembership', itemId: invite.target_email, changes }
  const principal = { userId: account.id, keyId: '' }
  await recordActivity(
    session,
    { principal, address },
    { organizationId, activity: 'joined', ...item },
    nowMs,
  )
  const { rows } = await session.query<Pick<Accepted, 'organization' | 'user'>>(
    `select jsonb_build_object('id', organization.id, 'name', organization.name) as organization, ${userJson} as user
     from organization, app_user where organization.id = $1 and app_user.id = $2`,
    [organizationId, account.id],
  )
  return { ...rows[0]!, level, personal_api_key: key } // both were just read or made
}

/** Projects that are gone by now, or where the inviter could not let anybody in at that level, are passed over. */
async function grantProjects(
  session: Session,
  { organization_id, private_project_access, created_by }: TakenInvite,
  userId: number,
  seconds: number,
): Promise<void> {
  const access = private_project_access ?? []
  await session.query(
    `insert into project_access (project_id, user_id, level, created_at, updated_at)
     select project.id, $2, given.level, to_timestamp($5), to_timestamp($5)
     from unnest($3::bigint[], $4::smallint[], $6::integer[]) given (id, level, by_user)
     join project on project.id = given.id and project.organization_id = $1
     join project_entrance on project_id = project.id and user_id = by_user and project_entrance.level >= given.level
     on conflict (project_id, user_id) do update
       set level = excluded.level, updated_at = excluded.updated_at`,
    [
      organization_id,
      userId,
      access.map(({ id }) => id),
      access.map(projectLevel),
      seconds,
      access.map(({ by }) => by ?? created_by),
    ],
  )
}

/** For the other members, where the organization wants that. */
async function joinMails(session: Session, { organization, user }: Accepted): Promise<Mail[]> {
  const { rows } = await session.query<{ email: string }>(
    `select app_user.email from organization
     join membership on membership.organization_id = organization.id
     join app_user on app_user.id = membership.user_id
     where organization.id = $1 and organization.is_member_join_email_enabled
       and app_user.is_active and app_user.id <> $2
     order by membership.level desc, app_user.id limit $3`,
    [organization.id, user.id, toldMax],
  )
  const name = [user.first_name, user.last_name].filter((part) => part !== '').join(' ') || user.email
  return rows.map(({ email }) => joinMail(email, name, organization.name))
}
