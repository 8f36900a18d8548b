// What an invite's mail says, and how many are sent: somebody who may invite shall not be able to fill a stranger's
// mailbox, or those of the world, from this server.

import { Meter } from '../api/rate-limit.ts'
import type { Clock } from '../lib/clock.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Mail } from '../mail/transport.ts'
import type { Session } from '../postgres/pool.ts'
import { type Invite, inviteDaysMax } from './invite-rows.ts'

export interface InviteMails {
  /** True when a user may send a mail to the address now for the organization; it counts as sent then. */
  take(organizationId: string, userId: number, email: string): boolean
}

const hourMs = 3_600_000
const mailsPerAddress = 5
/** Whoever has used it up could make another organization: it is the inviter's as well. */
const mailsPerOrganization = 100
const mailsPerInviter = 100

export function openInviteMails(mailer: Mailer, clock: Clock): InviteMails {
  const addresses = new Meter([{ count: mailsPerAddress, ms: hourMs }], clock)
  const organizations = new Meter([{ count: mailsPerOrganization, ms: hourMs }], clock)
  const inviters = new Meter([{ count: mailsPerInviter, ms: hourMs }], clock)
  return {
    take(organizationId, userId, email) {
      if (!mailer.isConfigured) return false
      const counted: [meter: Meter, name: string][] = [
        [addresses, email.toLowerCase()],
        [organizations, organizationId],
        [inviters, String(userId)],
      ]
      if (counted.some(([meter, name]) => meter.waitMs(name) > 0)) return false
      for (const [meter, name] of counted) meter.count(name)
      return true
    },
  }
}

/** Who invites into what, as the mail names them. */
export interface InviteNames {
  readonly organization: string
  readonly inviter: string
}

export async function findNames(
  session: Session,
  organizationId: string,
  userId: number,
): Promise<InviteNames> {
  const { rows } = await session.query<InviteNames>(
    `select organization.name as organization,
       coalesce(nullif(trim(concat_ws(' ', first_name, last_name)), ''), email) as inviter
     from organization, app_user where organization.id = $1 and app_user.id = $2`,
    [organizationId, userId],
  )
  return rows[0]! // the caller is a user, and in the organization
}

/** `base` is this server's public address. */
export function inviteMail(
  invite: Invite,
  organizationId: string,
  token: string,
  { organization, inviter }: InviteNames,
  base: string,
): Mail {
  const { id, first_name, message } = invite
  // Behind the #, a browser sends the token to nobody, and no log on the way has it.
  const link = `${base}/join/#${organizationId}/${id}/${token}`
  const parts = [
    first_name === '' ? 'Hello,' : `Hello ${first_name},`,
    `${inviter} invites you to join ${organization} on Spate.`,
    ...(message === null || message === '' ? [] : [message]),
    `Accept the invite here, once and within ${inviteDaysMax} days:\n\n${link}`,
    `Or without a browser:\n\n${commandOf(base, organizationId, id, token)}`,
  ]
  return {
    to: invite.target_email,
    subject: `${inviter} invited you to join ${organization}`,
    text: `${parts.join('\n\n')}\n`,
    about: `invite ${id}`,
  }
}

/** What the other members are told about who has joined. */
export function joinMail(to: string, joined: string, organization: string): Mail {
  return {
    to,
    subject: `${joined} joined ${organization}`,
    text: `${joined} has accepted an invite and joined ${organization} on Spate.\n`,
    about: 'a new member',
  }
}

function commandOf(base: string, organizationId: string, id: string, token: string): string {
  const url = `${base}/api/organizations/${organizationId}/invites/${id}/accept/`
  return `curl -X POST ${url} -H 'content-type: application/json' -d '{"token": "${token}"}'`
}
