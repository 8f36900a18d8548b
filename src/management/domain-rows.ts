// Domains as the API shows them: what may be written, what is read, and how.

import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import { type Session, sqlState } from '../postgres/pool.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { uuidPattern } from './person-detail.ts'

const nullableText = (maxLength: number) => Type.Union([Type.String({ maxLength }), Type.Null()])

/** What a caller may write. */
export const domainInput = Type.Object({
  domain: Type.String({ minLength: 1, maxLength: 128 }),
  jit_provisioning_enabled: Type.Optional(Type.Boolean()),
  sso_enforcement: Type.Optional(Type.String({ maxLength: 28 })),
  saml_entity_id: Type.Optional(nullableText(512)),
  saml_acs_url: Type.Optional(nullableText(512)),
  saml_x509_cert: Type.Optional(nullableText(65_536)),
})

export type DomainInput = Static<typeof domainInput>

/** Its names, for the audit log, and which of them it does not repeat. */
export const domainFields: readonly string[] = Object.keys(domainInput.properties)
export const domainSecrets: readonly string[] = ['saml_x509_cert']

export const domainSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  domain: Type.String(),
  is_verified: Type.Boolean(),
  verified_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  verification_challenge: Type.String({
    description: 'What a TXT record at `_posthog-challenge.<domain>` must say for the domain to be verified.',
  }),
  jit_provisioning_enabled: Type.Boolean(),
  sso_enforcement: Type.String(),
  has_saml: Type.Boolean({ description: 'True when the three SAML fields are set.' }),
  saml_entity_id: Type.Union([Type.String(), Type.Null()]),
  saml_acs_url: Type.Union([Type.String(), Type.Null()]),
  saml_x509_cert: Type.Union([Type.String(), Type.Null()]),
})

export type Domain = Static<typeof domainSchema>

/** What may only be set once the domain is verified. */
export const afterVerification = ['jit_provisioning_enabled', 'sso_enforcement'] as const

const challengeBytes = 32
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const domainName = new RegExp(`^(?:${label}\\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$`)
const uniqueViolation = '23505'

/** Selects rows of `Domain`, the certificate sealed. */
export const selectDomains = `
  select id, domain, verified_at is not null as is_verified, verified_at, verification_challenge,
    jit_provisioning_enabled, sso_enforcement,
    coalesce(saml_entity_id, '') <> '' and coalesce(saml_acs_url, '') <> ''
      and coalesce(saml_x509_cert, '') <> '' as has_saml,
    saml_entity_id, saml_acs_url, saml_x509_cert
  from organization_domain`

/** Errors: invalid_input for text that names no domain. */
export function checkDomainName(domain: string): void {
  if (domainName.test(domain)) return
  const detail = 'Please enter a valid domain or subdomain name.'
  throw new ServiceError('invalid_input', { detail, attr: 'domain' })
}

/** Errors: secret_unreadable. */
export function openDomain(sealer: Sealer, row: Domain): Domain {
  const { saml_x509_cert: sealed } = row
  return sealed ? { ...row, saml_x509_cert: sealer.open(certificateOf(row.id), sealed) } : row
}

/** Errors: not_found; secret_unreadable. */
export async function findDomain(session: Session, sealer: Sealer, id: string): Promise<Domain> {
  return openDomain(sealer, await findSealed(session, `${selectDomains} where id = $1`, id))
}

/**
 * The same, held until the end of the transaction. A certificate that does not open counts as none, so that it can be
 * saved again. Errors: not_found.
 */
export async function lockDomain(session: Session, sealer: Sealer, id: string): Promise<Domain> {
  const row = await findSealed(session, `${selectDomains} where id = $1 for update`, id)
  try {
    return openDomain(sealer, row)
  } catch (error) {
    if (!isServiceError(error, 'secret_unreadable')) throw error
    return { ...row, saml_x509_cert: null }
  }
}

async function findSealed(session: Session, sql: string, id: string): Promise<Domain> {
  if (!uuidPattern.test(id)) throw new ServiceError('not_found')
  const { rows } = await session.query<Domain>(sql, [id])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}

/** Adds a domain with a challenge of its own and returns its id. Errors: unique when anybody has it. */
export async function insertDomain(
  session: Session,
  organizationId: string,
  domain: string,
  nowMs: number,
): Promise<string> {
  const id = makeUuidV7(nowMs)
  const challenge = randomBytes(challengeBytes).toString('base64url')
  await orTaken(
    session.query(
      `insert into organization_domain (id, organization_id, domain, verification_challenge, created_at, updated_at)
       values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5))`,
      [id, organizationId, domain, challenge, nowMs / 1000],
    ),
  )
  return id
}

/**
 * Writes the fields that `input` has; the others stay. Another name is another domain: what was proved of the old one
 * is not proved of it, and single sign-on ends with the proof. Errors: unique.
 */
export async function writeDomain(
  session: Session,
  sealer: Sealer,
  id: string,
  input: Partial<DomainInput>,
  nowMs: number,
): Promise<void> {
  const { saml_x509_cert: text } = input
  const sealed = text ? { saml_x509_cert: sealer.seal(certificateOf(id), text) } : {}
  await orTaken(
    session.query(
      `update organization_domain set updated_at = to_timestamp($3), domain = written.domain,
         verified_at = case when written.domain = stored.domain then stored.verified_at end,
         jit_provisioning_enabled = written.jit_provisioning_enabled and written.domain = stored.domain,
         sso_enforcement = case when written.domain = stored.domain then written.sso_enforcement else '' end,
         saml_entity_id = written.saml_entity_id, saml_acs_url = written.saml_acs_url,
         saml_x509_cert = written.saml_x509_cert
       from organization_domain stored, jsonb_populate_record(stored, $2) written
       where stored.id = $1 and organization_domain.id = $1`,
      [id, JSON.stringify({ ...input, ...sealed }), nowMs / 1000],
    ),
  )
}

async function orTaken<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (cause) {
    if (sqlState(cause) !== uniqueViolation) throw cause
    throw new ServiceError('unique', {
      detail: 'domain with this domain already exists.',
      attr: 'domain',
      cause,
    })
  }
}

function certificateOf(id: string) {
  return { table: 'organization_domain', column: 'saml_x509_cert', id }
}
