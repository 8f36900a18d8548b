// Which tenant a path names, and whether the caller may enter. Tenants are walls: a project of others does not exist,
// nor does an organization of others; what is below an organization of others is forbidden; and a key limited to some
// tenants opens no other. A private project exists for those who may enter it, by the view project_entrance (sql/0012).

import { isServiceError, ServiceError } from '../errors.ts'
import { often, type Session } from '../postgres/pool.ts'
import { type Level, levels } from './access.ts'
import type { Principal } from './principal.ts'

export interface Organization {
  readonly id: string
  /** The caller's. */
  readonly level: Level
}

export interface Project {
  readonly id: number
  /** With the caller's level in it, which may be lower than the one in a private project. */
  readonly organization: Organization
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** Largest Postgres integer. */
const projectIdMax = 2_147_483_647
const current = '@current'

const findOrganization = often(`
  select organization.id, membership.level from organization
  left join membership on membership.organization_id = organization.id and membership.user_id = $2
  where organization.id = $1`)

const findEntrance = often(`
  select organization_id, organization_level as level from project_entrance
  where project_id = $1 and user_id = $2`)

/**
 * The organization of the route `/api/organizations/:id/` (`isItself`) or of one below
 * `/api/organizations/:organization_id/`.
 * Errors: not_found for one that is not; permission_denied for one the key is not for, and below one the caller is not
 * in: that one itself is not found.
 */
export async function enterOrganization(
  session: Session,
  principal: Principal,
  given: string,
  isItself = false,
): Promise<Organization> {
  checkProjectScope(principal)
  const id = given === current ? principal.currentOrganizationId : given
  if (id === null && isItself) {
    throw new ServiceError('not_found', { detail: 'Current organization not found.' })
  }
  if (id === null || !uuid.test(id)) throw organizationNotFound(isItself)
  checkOrganizationScope(principal, id.toLowerCase())
  const { rows } = await session.query<{ id: string; level: Level | null }>(findOrganization, [
    id,
    principal.userId,
  ])
  const row = rows[0]
  if (row === undefined || (row.level === null && isItself)) throw organizationNotFound(isItself)
  if (row.level === null) throw new ServiceError('permission_denied')
  return { id: row.id, level: row.level }
}

/**
 * Order of the projects of the caller's current organization, columns of the table project: the first that the caller
 * may enter is the current one. It is where the user was last, of which `lastId` is the parameter; when that one is
 * gone or closed an open project comes before a private one. Worked out where it is asked for only: in the statement
 * that looks every request's key up it took as long as the rest.
 */
export function currentFirst(lastId: string): string {
  return `order by coalesce(id = ${lastId}, false) desc, access_control, id limit 1`
}

/**
 * The project of the route `/api/projects/:id/` or of one below `/api/projects/:project_id/`.
 * Errors: not_found for one that is not, is not the caller's or is private to others; permission_denied for one the key
 * is not for.
 */
export async function enterProject(session: Session, principal: Principal, given: string): Promise<Project> {
  const id = given === current ? await findCurrentProject(session, principal) : numberOf(given)
  if (id === null) throw projectNotFound()
  if (principal.scopedProjects.length > 0 && !principal.scopedProjects.includes(id)) {
    const detail = `API key does not have access to the requested project: ID ${id}.`
    throw new ServiceError('permission_denied', { detail })
  }
  const { rows } = await session.query<{ organization_id: string; level: Level }>(findEntrance, [
    id,
    principal.userId,
  ])
  const row = rows[0]
  if (row === undefined) throw projectNotFound()
  checkOrganizationScope(principal, row.organization_id)
  return { id, organization: { id: row.organization_id, level: row.level } }
}

async function findCurrentProject(session: Session, principal: Principal): Promise<number | null> {
  const { rows } = await session.query<{ id: number }>(
    `select id from project_entrance join project on project.id = project_id
     where user_id = $1 and project.organization_id = $2 ${currentFirst('$3')}`,
    [principal.userId, principal.currentOrganizationId, principal.currentProjectId],
  )
  return rows[0]?.id ?? null
}

function numberOf(given: string): number | null {
  const id = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  return id <= projectIdMax ? id : null
}

/**
 * The same for a project that its own project API key has named. That it exists is no secret to who has its key.
 * Errors: permission_denied for one that is not the caller's.
 */
export async function enterTokensProject(
  session: Session,
  principal: Principal,
  id: number,
): Promise<Project> {
  try {
    return await enterProject(session, principal, String(id))
  } catch (error) {
    throw isServiceError(error, 'not_found') ? new ServiceError('permission_denied') : error
  }
}

/** Errors: permission_denied for a key that is limited to projects, on a route that is about more than a project. */
export function checkProjectScope(principal: Principal): void {
  if (principal.scopedProjects.length === 0) return
  const detail = 'API keys with scoped projects are only supported on project-based endpoints.'
  throw new ServiceError('permission_denied', { detail })
}

/** Errors: permission_denied when the caller's level is below `needed`. */
export function checkLevel(organization: Organization, needed: Level): void {
  if (organization.level >= needed) return
  const detail = 'Your organization access level is insufficient.'
  throw new ServiceError('permission_denied', needed === levels.member ? {} : { detail })
}

function checkOrganizationScope(principal: Principal, id: string): void {
  const { scopedOrganizations } = principal
  if (scopedOrganizations.length === 0 || scopedOrganizations.includes(id)) return
  const detail = `API key does not have access to the requested organization: ID ${id}.`
  throw new ServiceError('permission_denied', { detail })
}

function organizationNotFound(isItself: boolean): ServiceError {
  return new ServiceError('not_found', isItself ? {} : { detail: 'Organization not found.' })
}

function projectNotFound(): ServiceError {
  return new ServiceError('not_found', { detail: 'Project not found.' })
}
