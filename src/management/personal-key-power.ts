// What a personal API key may give to another: nothing it does not have. Without this a key that may only read would be
// worth as much as its owner: it could make itself a better one.

import { isGranted, isScope } from '../api/access.ts'
import type { Principal } from '../api/principal.ts'
import { ServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'

/** What a key opens. Empty limits are none. */
export interface Power {
  readonly scopes: readonly string[]
  readonly scoped_organizations: readonly string[]
  readonly scoped_teams: readonly number[]
  /** Null: without end. */
  readonly expires_at: string | null
}

/** Errors: invalid_choice for a scope that does not exist. */
export function checkScopes(scopes: readonly string[]): void {
  for (const [index, scope] of scopes.entries()) {
    if (scope === '*' || isScope(scope)) continue
    const detail = `"${scope}" is not a valid choice.`
    throw new ServiceError('invalid_choice', { detail, attr: `scopes__${index}` })
  }
}

/** Errors: does_not_exist for a tenant that the caller's key does not open. */
export async function checkTenants(
  session: Session,
  power: Pick<Power, 'scoped_organizations' | 'scoped_teams'>,
): Promise<void> {
  const { rows } = await session.query<{ organization: string | null; project: number | null }>(
    `select (select id from unnest($1::uuid[]) id where id not in (select id from organization) limit 1)
        as organization,
      (select id from unnest($2::integer[]) id where id not in (select id from project) limit 1) as project`,
    [power.scoped_organizations, power.scoped_teams],
  )
  const { organization, project } = rows[0]! // a select without from has one row
  if (organization !== null) throw doesNotExist(organization, 'scoped_organizations')
  if (project !== null) throw doesNotExist(project, 'scoped_teams')
}

/** Errors: permission_denied when `power` is more than the key of `principal` has. */
export function checkCovers(principal: Principal, power: Power): void {
  const { scopes, scopedOrganizations, scopedProjects, expiresAt } = principal
  const missing = power.scopes.find((scope) =>
    isScope(scope) ? !isGranted(scopes, scope) : !scopes.includes('*'),
  )
  if (missing !== undefined) throw denied(`API key missing required scope '${missing}'`)
  if (!isWithin(power.scoped_organizations, scopedOrganizations)) {
    throw denied('API keys with scoped organizations can only give access to those organizations.')
  }
  if (!endsWith(power.expires_at, expiresAt)) {
    throw denied('API keys that expire can only give access until then.')
  }
  if (!isWithin(power.scoped_teams, scopedProjects)) {
    throw denied('API keys with scoped projects can only give access to those projects.')
  }
}

/** True when a limit is at least as narrow as another. */
function isWithin<T>(limit: readonly T[], other: readonly T[]): boolean {
  return other.length === 0 || (limit.length > 0 && limit.every((one) => other.includes(one)))
}

/** True when one key ends with another, or before it. */
function endsWith(end: string | null, other: string | null): boolean {
  return other === null || (end !== null && Date.parse(end.replace(',', '.')) <= Date.parse(other))
}

function denied(detail: string): ServiceError {
  return new ServiceError('permission_denied', { detail })
}

function doesNotExist(id: string | number, attr: string): ServiceError {
  return new ServiceError('does_not_exist', { detail: `Invalid pk "${id}" - object does not exist.`, attr })
}
