// Who is asking: the user behind a personal API key. Every request looks its key up again (one indexed statement), so a
// key that is revoked, a scope that is taken away and a user who is made inactive lose their access at once.

import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { often, type Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import type { AllowanceName } from './access.ts'
import { hashKey } from './keys.ts'
import type { RateLimit } from './rate-limit.ts'

export interface Principal {
  readonly keyId: string
  readonly scopes: readonly string[]
  /** Organizations the key is limited to; empty is without limit. */
  readonly scopedOrganizations: readonly string[]
  /** Projects the key is limited to; empty is without limit. */
  readonly scopedProjects: readonly number[]
  /** When the key ends, as Postgres shows a moment; null when it does not. */
  readonly expiresAt: string | null
  readonly userId: number
  readonly userUuid: string
  readonly email: string
  /** Where the user is, else the organization joined first; null without any. */
  readonly currentOrganizationId: string | null
  /** Where the user was last; `currentFirst` says what to do about one that is gone or closed. */
  readonly currentProjectId: number | null
}

export interface Authentication {
  /**
   * Finds out who is asking and counts the request against the key's allowance of that name. `address` is where it came
   * from.
   * Errors: not_authenticated without a key, authentication_failed with one that is not good, throttled,
   * postgres_unavailable.
   */
  authenticate(authorization: string, address: string, allowance?: AllowanceName): Promise<Principal>
  /** The same for a project secret API key, and the project it is of. */
  authenticateProject(
    authorization: string,
    address: string,
    allowance?: AllowanceName,
  ): Promise<SecretProject>
}

export interface SecretProject {
  readonly id: number
  readonly organizationId: string
}

interface AuthenticationOptions {
  readonly postgres: Postgres
  readonly rateLimit: RateLimit
  readonly clock: Clock
  readonly log: Log
}

/** The scheme is matched as written: a credential of another scheme is no key at all. */
const bearer = /^Bearer\s+(\S{2,})\s*$/
/** Longest key that is hashed. */
const keyLengthMax = 200
/** `last_used_at` is written at most this often. */
const usedMsMin = 3_600_000

interface KeyRow {
  readonly id: string
  readonly scopes: string[]
  readonly scoped_organizations: string[]
  readonly scoped_teams: number[]
  readonly expires_at: string | null
  readonly is_stale: boolean
  readonly user_id: number
  readonly uuid: string
  readonly email: string
  readonly current_organization_id: string | null
  readonly current_project_id: number | null
}

const findKey = often(`
  select key.id, key.scopes, key.scoped_organizations::text[], key.scoped_teams, key.expires_at,
    key.user_id,
    coalesce(key.last_used_at < to_timestamp($2) - make_interval(secs => $3), true) as is_stale,
    app_user.uuid, app_user.email,
    coalesce(app_user.current_organization_id, (select organization_id from membership
      where membership.user_id = app_user.id order by joined_at, id limit 1)) as current_organization_id,
    app_user.current_project_id
  from personal_api_key key join app_user on app_user.id = key.user_id
  where key.secure_value = $1 and key.revoked_at is null and app_user.is_active
    and (key.expires_at is null or key.expires_at > to_timestamp($2))`)

const findProjectKey = often(`
  select project.id, project.organization_id as "organizationId"
  from project_secret_key key join project on project.id = key.project_id
  where key.secure_value = $1`)

/** True for a credential that says it is a project's. */
export function isProjectSecret(authorization: string): boolean {
  return bearer.exec(authorization)?.[1]?.startsWith('phs_') === true
}

export function openAuthentication(options: AuthenticationOptions): Authentication {
  const { postgres, rateLimit, clock, log } = options
  const authenticate: Authentication['authenticate'] = async (authorization, address, allowance) => {
    const key = bearer.exec(authorization)?.[1]
    if (key === undefined) throw new ServiceError('not_authenticated')
    const keyHash = hashKey(key.slice(0, keyLengthMax))
    rateLimit.checkAddress(address, keyHash)
    const nowSeconds = clock.nowMs() / 1000
    const { rows } = await postgres.query<KeyRow>(findKey, [keyHash, nowSeconds, usedMsMin / 1000])
    const row = rows[0]
    if (row === undefined) {
      rateLimit.countFailure(address)
      throw new ServiceError('authentication_failed')
    }
    rateLimit.countKey(keyHash, { keyId: row.id, userId: row.user_id }, allowance)
    if (row.is_stale) await noteUse(postgres, row.id, nowSeconds, log)
    return principalOf(row)
  }
  const authenticateProject: Authentication['authenticateProject'] = async (
    authorization,
    address,
    allowance,
  ) => {
    const keyHash = hashKey((bearer.exec(authorization)?.[1] ?? '').slice(0, keyLengthMax))
    rateLimit.checkAddress(address, keyHash)
    const project = (await postgres.query<SecretProject>(findProjectKey, [keyHash])).rows[0]
    if (project === undefined) {
      rateLimit.countFailure(address)
      throw new ServiceError('authentication_failed')
    }
    // Users have positive ids.
    rateLimit.countKey(keyHash, { keyId: `project ${project.id}`, userId: -project.id }, allowance)
    return project
  }
  return { authenticate, authenticateProject }
}

/** A use that cannot be noted is no reason to refuse it. */
async function noteUse(postgres: Postgres, keyId: string, nowSeconds: number, log: Log): Promise<void> {
  try {
    await postgres.query('update personal_api_key set last_used_at = to_timestamp($2) where id = $1', [
      keyId,
      nowSeconds,
    ])
  } catch (error) {
    log.warn({ err: error }, 'the last use of a personal API key was not noted')
  }
}

function principalOf(row: KeyRow): Principal {
  return {
    keyId: row.id,
    scopes: row.scopes,
    scopedOrganizations: row.scoped_organizations,
    scopedProjects: row.scoped_teams,
    expiresAt: row.expires_at,
    userId: row.user_id,
    userUuid: row.uuid,
    email: row.email,
    currentOrganizationId: row.current_organization_id,
    currentProjectId: row.current_project_id,
  }
}
