// POST /api/organizations/:organization_id/domains/:id/verify/: looks for the proof that a domain is the
// organization's, a TXT record at _posthog-challenge.<domain>. Finding none is an answer, too: the domain's own state
// tells the two apart.

import { partialOf } from '../api/input-schema.ts'
import { type Operation, organizationOperation } from '../api/operation.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Session } from '../postgres/pool.ts'
import { type Actor, recordActivity } from './activity.ts'
import { domainInput } from './domain-rows.ts'
import { uuidPattern } from './person-detail.ts'

interface Challenge {
  readonly id: string
  readonly domain: string
  readonly verification_challenge: string
  readonly is_verified: boolean
}

export function domainVerify(outbound: Pick<Outbound, 'textRecords'>, clock: Clock): Operation {
  return organizationOperation({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/:id/verify',
    operationId: 'domains_verify_create',
    summary: "Look for the proof that a domain is the organization's; read the domain for what came of it",
    tag: 'domains',
    query: null,
    body: null,
    ignores: partialOf(domainInput),
    status: 200,
    response: null,
    handle: async ({ organization, sql, params: { id = '' }, ...actor }) => {
      const challenge = await findChallenge(sql, id)
      if (challenge.is_verified) throw new ServiceError('already_verified')
      const isProved = await hasProof(outbound, challenge)
      await sql.transaction(async (session) => {
        if (!isProved) await noteFailure(session, id, clock.nowMs())
        else await noteProof(session, actor, organization.id, challenge, clock.nowMs())
      })
    },
  })
}

/** Errors: not_found. */
async function findChallenge(session: Session, id: string): Promise<Challenge> {
  if (!uuidPattern.test(id)) throw new ServiceError('not_found')
  const { rows } = await session.query<Challenge>(
    `select id, domain, verification_challenge, verified_at is not null as is_verified
     from organization_domain where id = $1`,
    [id],
  )
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}

/** Name servers that say nothing prove nothing. */
async function hasProof(outbound: Pick<Outbound, 'textRecords'>, challenge: Challenge): Promise<boolean> {
  try {
    const records = await outbound.textRecords(`_posthog-challenge.${challenge.domain}`)
    return records.includes(challenge.verification_challenge)
  } catch (error) {
    if (isServiceError(error, 'address_unknown')) return false
    throw error
  }
}

async function noteFailure(session: Session, id: string, nowMs: number): Promise<void> {
  await session.query(
    'update organization_domain set last_verification_retry = to_timestamp($2) where id = $1',
    [id, nowMs / 1000],
  )
}

/** The domain may have been renamed or verified while its name server was asked: this proof is of the name it had. */
async function noteProof(
  session: Session,
  actor: Actor,
  organizationId: string,
  { id, domain }: Challenge,
  nowMs: number,
): Promise<void> {
  const { rowCount } = await session.query(
    `update organization_domain set verified_at = to_timestamp($3), last_verification_retry = null
     where id = $1 and domain = $2 and verified_at is null`,
    [id, domain, nowMs / 1000],
  )
  if (rowCount === 0) return
  const changes = [{ field: 'is_verified', before: false, after: true }]
  const entry = { organizationId, activity: 'verified', scope: 'OrganizationDomain', itemId: id, changes }
  await recordActivity(session, actor, entry, nowMs)
}
