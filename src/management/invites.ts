// /api/organizations/:organization_id/invites/: who may become a member.

import type { TSchema } from 'typebox'
import { countedPage } from '../api/counted-page.ts'
import { readInput } from '../api/input.ts'
import { type Operation, organizationOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import type { TenantSql } from '../api/tenant-sql.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Mailer } from '../mail/mailer.ts'
import { recordActivity } from './activity.ts'
import { createInvite, type Inviter, lockInvites, type NewInvite } from './invite-create.ts'
import { findNames, type InviteMails, inviteMail, openInviteMails } from './invite-mail.ts'
import { type Invite, type InviteInput, inviteInput, inviteSchema, selectInvites } from './invite-rows.ts'
import { holdOrganization } from './organization-rows.ts'
import { uuidPattern } from './person-detail.ts'

const path = '/api/organizations/:organization_id/invites'
const tag = 'invites'
const bulkMax = 20

/** Read by the handler, which has words of its own for what is no list or too long. */
const bulkInput = Type.Unsafe<unknown>({ items: inviteInput, maxItems: bulkMax })

export interface InvitesOptions {
  readonly mailer: Mailer
  /** SITE_URL, which mail needs. */
  readonly siteUrl: string | null
  readonly clock: Clock
}

export function inviteOperations(options: InvitesOptions): Operation[] {
  const { mailer, clock } = options
  const mails = openInviteMails(mailer, clock)
  return [listInvites(clock), ...createInvites({ ...options, mails }), deleteInvite(clock)]
}

function listInvites(clock: Clock): Operation {
  return organizationOperation({
    method: 'GET',
    path,
    operationId: 'invites_list',
    summary: 'List the invites of an organization, newest first',
    tag,
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(inviteSchema),
    handle: ({ organization, sql, request, url }) =>
      countedPage<Invite>(sql, {
        select: selectInvites,
        params: [organization.id, clock.nowMs() / 1000],
        order: 'created_at desc, id desc',
        url,
        page: pageOf(request.query),
      }),
  })
}

interface CreateOptions extends InvitesOptions {
  readonly mails: InviteMails
}

function createInvites({ mailer, mails, siteUrl, clock }: CreateOptions): Operation[] {
  /** All or none; the mails go out when they are stored. */
  const invite = async (
    sql: TenantSql,
    inviter: Inviter,
    inputs: readonly InviteInput[],
  ): Promise<NewInvite[]> => {
    const { organization, principal } = inviter
    const { made, names } = await sql.transaction(async (session) => {
      const level = await lockInvites(session, organization.id, principal.userId)
      const current = { ...inviter, organization: { ...organization, level } }
      const made: NewInvite[] = []
      for (const [index, input] of inputs.entries()) {
        const isMailed =
          input.send_email !== false && mails.take(organization.id, principal.userId, input.target_email)
        made.push(await createInvite(session, current, input, isMailed, { nowMs: clock.nowMs(), index }))
      }
      return { made, names: await findNames(session, organization.id, principal.userId) }
    })
    // Never the Host of the request: whoever invites would choose where the token goes.
    const base = siteUrl ?? ''
    for (const { invite, token } of made) {
      if (invite.send_email && (invite.emailing_attempt_made || !mailer.isConfigured)) {
        mailer.send(inviteMail(invite, organization.id, token, names, base))
      }
    }
    return made
  }
  const create = organizationOperation({
    method: 'POST',
    path,
    operationId: 'invites_create',
    summary: 'Invite somebody, by mail where mail is set up; older invites of the address go',
    tag,
    query: null,
    body: inviteInput,
    status: 201,
    response: inviteSchema,
    handle: async ({ sql, body, organization, principal, address }) => {
      const made = await invite(sql, { organization, principal, address }, [body])
      return made[0]!.invite // one for one
    },
  })
  const bulk = organizationOperation({
    method: 'POST',
    path: `${path}/bulk`,
    operationId: 'invites_bulk_create',
    summary: `Invite up to ${bulkMax} people at once, all or none`,
    tag,
    query: null,
    body: bulkInput as TSchema, // a schema of any value, with items for the description
    status: 200,
    response: null,
    handle: async ({ sql, body, organization, principal, address }) => {
      await invite(sql, { organization, principal, address }, readBulk(body))
    },
  })
  return [create, bulk]
}

/** Errors: invalid_input, max_length, and the codes of each invite. */
function readBulk(body: unknown): InviteInput[] {
  if (!Array.isArray(body)) {
    const detail = 'This endpoint needs an array of data for bulk invite creation.'
    throw new ServiceError('invalid_input', { detail })
  }
  if (body.length > bulkMax) {
    const detail = `A maximum of ${bulkMax} invites can be sent in a single request.`
    throw new ServiceError('max_length', { detail })
  }
  return readInput(Type.Array(inviteInput), body) as InviteInput[] // read by this very schema
}

function deleteInvite(clock: Clock): Operation {
  return organizationOperation({
    method: 'DELETE',
    path: `${path}/:id`,
    operationId: 'invites_destroy',
    summary: 'Take an invite back',
    tag,
    query: null,
    body: null,
    status: 204,
    response: null,
    handle: ({ organization, sql, params: { id = '' }, principal, address }) =>
      sql.transaction(async (session) => {
        if (!uuidPattern.test(id)) throw new ServiceError('not_found')
        await holdOrganization(session, organization.id)
        const { rows } = await session.query<{ target_email: string }>(
          'delete from organization_invite where id = $1 returning target_email',
          [id],
        )
        if (rows[0] === undefined) throw new ServiceError('not_found')
        const changes = [{ field: 'target_email', before: rows[0].target_email, after: null }]
        const item = { scope: 'OrganizationInvite', itemId: id, changes }
        const entry = { organizationId: organization.id, activity: 'deleted', ...item }
        await recordActivity(session, { principal, address }, entry, clock.nowMs())
      }),
  })
}
