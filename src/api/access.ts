// Who may do what: the one table of operations, the scope a key needs and the level its owner needs. Whatever is not
// in it cannot be served: `accessOf` fails when the routes are made, before the server listens.

import { assert } from '../lib/assert.ts'

export const levels = { member: 1, administrator: 8, owner: 15 } as const
export type Level = (typeof levels)[keyof typeof levels]

const scopeObjects = [
  'organization',
  'organization_member',
  'project',
  'batch_export',
  'query',
  'person',
  'group',
  'feature_flag',
  'cohort',
  'early_access_feature',
  'user',
] as const
export type ScopeObject = (typeof scopeObjects)[number]
export type Scope = `${ScopeObject}:${'read' | 'write'}`

export interface Access {
  /** `any_key`: whatever its scopes. `public`: no key is looked at. */
  readonly scope: Scope | 'any_key' | 'public'
  /** In the organization of the path, or of the project in the path; null where the path names none. */
  readonly level: Level | null
  /** What it counts against; `management` when it says nothing. */
  readonly allowance?: AllowanceName
  /** A project secret API key opens it as well, for its own project. Nobody in particular asks then. */
  readonly takesProjectSecret?: true
}

/** Kinds of requests that are counted apart: servers that evaluate flags ask for their definitions all the time. */
export type AllowanceName = 'management' | 'definitions'

/** What can be done to most things, below their path. */
const itemRows = ['GET', 'POST', 'GET /:id', 'PUT /:id', 'PATCH /:id']
const activityRows = ['GET /activity', 'GET /:id/activity']

const table: Readonly<Record<string, Access>> = {
  'DELETE /api/organizations/:organization_id/invites/:id': {
    scope: 'organization_member:write',
    level: levels.administrator,
  },
  'GET /api/organizations/:organization_id/invites': {
    scope: 'organization_member:read',
    level: levels.member,
  },
  'POST /api/organizations/:organization_id/invites': {
    scope: 'organization_member:write',
    level: levels.member,
  },
  'POST /api/organizations/:organization_id/invites/:id/accept': { scope: 'public', level: null },
  'POST /api/organizations/:organization_id/invites/bulk': {
    scope: 'organization_member:write',
    level: levels.member,
  },
  'DELETE /api/organizations/:organization_id/domains/:id': {
    scope: 'organization:write',
    level: levels.administrator,
  },
  'GET /api/organizations/:organization_id/domains': { scope: 'organization:read', level: levels.member },
  'GET /api/organizations/:organization_id/domains/:id': { scope: 'organization:read', level: levels.member },
  'PATCH /api/organizations/:organization_id/domains/:id': {
    scope: 'organization:write',
    level: levels.administrator,
  },
  'POST /api/organizations/:organization_id/domains': {
    scope: 'organization:write',
    level: levels.administrator,
  },
  'POST /api/organizations/:organization_id/domains/:id/verify': {
    scope: 'organization:write',
    level: levels.administrator,
  },
  'PUT /api/organizations/:organization_id/domains/:id': {
    scope: 'organization:write',
    level: levels.administrator,
  },
  'DELETE /api/organizations/:organization_id/projects/:id': {
    scope: 'project:write',
    level: levels.administrator,
  },
  'DELETE /api/projects/:id': { scope: 'project:write', level: levels.administrator },
  'DELETE /api/organizations/:id': { scope: 'organization:write', level: levels.owner },
  'GET /api/organizations': { scope: 'organization:read', level: null },
  'GET /api/organizations/:id': { scope: 'organization:read', level: levels.member },
  'GET /api/organizations/:organization_id/activity': { scope: 'organization:read', level: levels.member },
  'GET /api/organizations/:organization_id/projects': { scope: 'project:read', level: levels.member },
  'GET /api/organizations/:organization_id/projects/:id': { scope: 'project:read', level: levels.member },
  'GET /api/projects': { scope: 'project:read', level: null },
  'GET /api/projects/:id': { scope: 'project:read', level: levels.member },
  'GET /api/organizations/:organization_id/members': {
    scope: 'organization_member:read',
    level: levels.member,
  },
  'GET /api/organizations/:organization_id/members/:user__uuid/scoped_api_keys': {
    scope: 'organization_member:read',
    level: levels.administrator,
  },
  // Levels of the two and what they allow are compared in members.ts: everybody may leave.
  'PUT /api/organizations/:organization_id/members/:user__uuid': {
    scope: 'organization_member:write',
    level: levels.member,
  },
  'PATCH /api/organizations/:organization_id/members/:user__uuid': {
    scope: 'organization_member:write',
    level: levels.member,
  },
  'DELETE /api/organizations/:organization_id/members/:user__uuid': {
    scope: 'organization_member:write',
    level: levels.member,
  },
  'GET /api/users/@me': { scope: 'any_key', level: null },
  'PATCH /api/users/@me': { scope: 'user:write', level: null },
  // A key reaches its owner's keys as far as its own scopes and limits go: personal-key-power.ts.
  'GET /api/personal_api_keys': { scope: 'any_key', level: null },
  'POST /api/personal_api_keys': { scope: 'any_key', level: null },
  'GET /api/personal_api_keys/:id': { scope: 'any_key', level: null },
  'PUT /api/personal_api_keys/:id': { scope: 'any_key', level: null },
  'PATCH /api/personal_api_keys/:id': { scope: 'any_key', level: null },
  'DELETE /api/personal_api_keys/:id': { scope: 'any_key', level: null },
  'POST /api/personal_api_keys/:id/roll': { scope: 'any_key', level: null },
  'GET /api/schema': { scope: 'public', level: null },
  'GET /openapi.json': { scope: 'public', level: null },
  'GET /api/organizations/:organization_id/usage': { scope: 'organization:read', level: levels.member },
  'GET /api/projects/:project_id/events': { scope: 'query:read', level: levels.member },
  'POST /api/projects/:project_id/query': { scope: 'query:read', level: levels.member },
  'GET /api/projects/:project_id/groups': { scope: 'group:read', level: levels.member },
  'GET /api/projects/:project_id/groups/find': { scope: 'group:read', level: levels.member },
  'GET /api/projects/:project_id/groups_types': { scope: 'group:read', level: levels.member },
  'GET /api/projects/:project_id/ingestion_warnings': { scope: 'query:read', level: levels.member },
  'GET /api/projects/:project_id/persons': { scope: 'person:read', level: levels.member },
  'GET /api/projects/:project_id/persons/explain': { scope: 'person:read', level: levels.member },
  'GET /api/projects/:project_id/persons/:uuid': { scope: 'person:read', level: levels.member },
  'PATCH /api/organizations/:id': { scope: 'organization:write', level: levels.administrator },
  'PATCH /api/organizations/:organization_id/projects/:id': { scope: 'project:write', level: levels.member },
  'PATCH /api/projects/:id': { scope: 'project:write', level: levels.member },
  'PATCH /api/projects/:project_id/rotate_secret_token': {
    scope: 'project:write',
    level: levels.administrator,
  },
  'PATCH /api/projects/:project_id/delete_secret_token_backup': {
    scope: 'project:write',
    level: levels.administrator,
  },
  'POST /api/organizations/:organization_id/projects': {
    scope: 'project:write',
    level: levels.administrator,
  },
  'POST /api/organizations': { scope: 'organization:write', level: null },
  'PUT /api/organizations/:id': { scope: 'organization:write', level: levels.administrator },
  'PUT /api/organizations/:organization_id/projects/:id': { scope: 'project:write', level: levels.member },
  'PUT /api/projects/:id': { scope: 'project:write', level: levels.member },
  'DELETE /api/projects/:project_id/persons/:uuid': { scope: 'person:write', level: levels.member },
  'GET /api/projects/:project_id/feature_flags/:id/remote_config': {
    scope: 'feature_flag:read',
    level: levels.member,
    allowance: 'definitions',
    takesProjectSecret: true,
  },
  'GET /api/feature_flag/local_evaluation': {
    scope: 'feature_flag:read',
    level: levels.member,
    allowance: 'definitions',
    takesProjectSecret: true,
  },
  'GET /flags/definitions': {
    scope: 'feature_flag:read',
    level: levels.member,
    allowance: 'definitions',
    takesProjectSecret: true,
  },
  ...ofMembers('/api/projects/:project_id/feature_flags', 'feature_flag', [...itemRows, ...activityRows]),
  ...ofMembers('/api/projects/:project_id/cohorts', 'cohort', [
    ...itemRows,
    ...activityRows,
    'POST /:id/add_persons_to_static_cohort',
    'PATCH /:id/add_persons_to_static_cohort',
    'POST /:id/remove_person_from_static_cohort',
    'PATCH /:id/remove_person_from_static_cohort',
  ]),
  ...ofMembers('/api/projects/:project_id/early_access_feature', 'early_access_feature', [
    ...itemRows,
    'DELETE /:id',
  ]),
  // Levels in the project and what they allow are compared in explicit-members.ts: everybody may leave.
  ...ofMembers('/api/projects/:project_id/explicit_members', 'project', [
    'GET',
    'POST',
    'GET /:user__uuid',
    'PUT /:user__uuid',
    'PATCH /:user__uuid',
    'DELETE /:user__uuid',
  ]),
  ...batchExports('/api/organizations/:organization_id'),
  ...batchExports('/api/projects/:project_id'),
}

/** Operations on batch exports, which stand below an organization and below a project alike. */
function batchExports(tenantPath: string): Record<string, Access> {
  return ofMembers(`${tenantPath}/batch_exports`, 'batch_export', [
    ...itemRows,
    'DELETE /:id',
    'POST /:id/pause',
    'POST /:id/unpause',
    'GET /:id/logs',
    'POST /:id/backfill',
    'GET /:id/backfills',
    'POST /:id/backfills',
    'POST /:id/backfills/:backfill_id/cancel',
    'GET /:id/runs',
    'GET /:id/runs/:run_id',
    'POST /:id/runs/:run_id/cancel',
    'POST /:id/runs/:run_id/retry',
  ])
}

/** Operations below `path` that every member has: GET reads, whatever else writes. */
function ofMembers(path: string, object: ScopeObject, operations: readonly string[]): Record<string, Access> {
  const rows = operations.map((operation): [string, Access] => {
    const [method, below = ''] = operation.split(' ')
    const scope: Scope = `${object}:${method === 'GET' ? 'read' : 'write'}`
    return [`${method} ${path}${below}`, { scope, level: levels.member }]
  })
  return Object.fromEntries(rows)
}

/** The row of an operation. A missing row, or one that does not fit its path, is a programmer's error. */
export function accessOf(method: string, path: string): Access {
  const name = `${method} ${path}`
  const access = Object.hasOwn(table, name) ? table[name] : undefined
  assert(access !== undefined, `${name} has a row in the access table`)
  const isTenants = tenantIn(path) !== null && access.scope !== 'public'
  assert(isTenants === (access.level !== null), `${name} needs a level exactly when its path names a tenant`)
  return access
}

/** The tenant that a path names. */
export interface TenantInPath {
  readonly kind: 'organization' | 'project'
  /** Name of the path's parameter; null where the path means the current project. */
  readonly param: string | null
  /** True when the path is the tenant's own, and not of something that belongs to it. */
  readonly isItself: boolean
}

/** Upstream's paths that name a project by `?token=` only. */
const currentProjectPaths = ['/api/feature_flag/local_evaluation', '/flags/definitions']

/** Reads a template: the tenant itself is `:id`, and `:organization_id` or `:project_id` in front of what it has. */
export function tenantIn(path: string): TenantInPath | null {
  if (path === '/api/organizations/:id') return { kind: 'organization', param: 'id', isItself: true }
  if (path === '/api/projects/:id') return { kind: 'project', param: 'id', isItself: true }
  if (currentProjectPaths.includes(path)) return { kind: 'project', param: null, isItself: false }
  const param = /\/:(organization_id|project_id)\//.exec(path)?.[1]
  if (param === undefined) return null
  return { kind: param === 'project_id' ? 'project' : 'organization', param, isItself: false }
}

/** True for what a key can be given beside `*`. */
export function isScope(text: string): text is Scope {
  return scopeObjects.some((object) => text === `${object}:read` || text === `${object}:write`)
}

/** True when `granted` covers `needed`: `*` is everything, write includes read, nothing grants nothing. */
export function isGranted(granted: readonly string[], needed: Scope): boolean {
  if (granted.includes('*') || granted.includes(needed)) return true
  return needed.endsWith(':read') && granted.includes(needed.replace(/:read$/, ':write'))
}
