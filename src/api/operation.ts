// Operations: what the management API can do, each described once. The same description serves requests and writes the
// OpenAPI document.
//
// Order of checks: key (401), allowance (429), scope, the key's own tenants, membership (403, 404), level (403), input
// (400), and whatever the operation itself finds. Membership comes before the method: under an organization of others
// every verb is forbidden, also one that does not exist.
//
// How to add a resource (organizations.ts is the example):
//   - a table with organization_id or project_id, behind `build_wall` (sql/0004);
//   - its fields once as a TypeBox object, without defaults: a column has its default in SQL. POST and PUT take that
//     schema, PATCH takes `partialOf` it; unknown and read-only keys never reach the handler. What a PUT leaves out
//     stays as it is, as upstream has it;
//   - statements through `sql` of the context, never through the pool: it sees the request's tenants only;
//   - each change and `recordActivity` in one `sql.transaction`;
//   - a row in the access table for each verb, and a line in routes.ts.

import type { Static, TObject, TSchema } from 'typebox'
import type { HttpRequest, Method } from '../http/route.ts'
import type { Principal } from './principal.ts'
import type { Organization, Project } from './tenant.ts'
import type { TenantSql } from './tenant-sql.ts'

/** What every handler gets. */
interface Context<Query, Body> {
  readonly request: HttpRequest
  /** This request's own address, with its query string. */
  readonly url: string
  /** Where the request came from, for limits and the audit log. */
  readonly address: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
}

interface UserContext<Query, Body> extends Context<Query, Body> {
  readonly principal: Principal
  /** Sees the tenant of the path; where it names none, all that the key opens. */
  readonly sql: TenantSql
}

interface OrganizationContext<Query, Body> extends UserContext<Query, Body> {
  readonly organization: Organization
}

interface ProjectContext<Query, Body> extends UserContext<Query, Body> {
  readonly project: Project
}

export interface Description<Query extends TObject, Body extends TSchema> {
  readonly method: Method
  /** Template without trailing slash. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly tag: string
  /** Query parameters; null when there are none. */
  readonly query: Query | null
  /** Null when no body is read. */
  readonly body: Body | null
  /** Fields that a caller may send besides, and that nobody reads. */
  readonly ignores?: TObject
  readonly isDeprecated?: boolean
  /** Status of success. */
  readonly status: 200 | 201 | 204
  /** Null when success has no body. */
  readonly response: TSchema | null
  /** Type of the FileBytes that success may be instead, where the caller asks for it. */
  readonly fileType?: string
}

interface Definition<Given, Query extends TObject, Body extends TSchema> extends Description<Query, Body> {
  /** Resolves with what is sent: a value to be printed as JSON, JsonText or FileBytes. */
  readonly handle: (context: Given) => Promise<unknown> | unknown
}

/** Everything a request has become by the time its operation runs; null where the path or the table asks for none. */
export interface Admitted extends Context<unknown, unknown> {
  readonly principal: Principal | null
  readonly sql: TenantSql | null
  readonly organization: Organization | null
  readonly project: Project | null
}

export interface Operation extends Description<TObject, TSchema> {
  readonly run: (admitted: Admitted) => Promise<unknown> | unknown
}

/** A reply that is JSON already and must not be printed again. */
export class JsonText {
  readonly text: string
  /** Names this very text, quotes included; whoever has it already is answered 304. Null without one. */
  readonly etag: string | null

  constructor(text: string, etag: string | null = null) {
    this.text = text
    this.etag = etag
  }
}

/** A reply that is a file, of the operation's `fileType`. */
export class FileBytes {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

// An operation that a project secret API key opens (access.ts) has no principal then, and must not look at it.
// The casts below hold because `query` and `body` come from `readInput` by these very schemas, and because the path of
// the operation decides which of principal, sql, organization and project are there (operation-routes.ts).

/** An operation open to everybody. */
export function publicOperation<Q extends TObject, B extends TSchema>(
  definition: Definition<Context<Static<Q>, Static<B>>, Q, B>,
): Operation {
  return { ...definition, run: (admitted) => definition.handle(admitted as Context<Static<Q>, Static<B>>) }
}

/** An operation of whoever holds a key. */
export function userOperation<Q extends TObject, B extends TSchema>(
  definition: Definition<UserContext<Static<Q>, Static<B>>, Q, B>,
): Operation {
  return {
    ...definition,
    run: (admitted) => definition.handle(admitted as UserContext<Static<Q>, Static<B>>),
  }
}

/** An operation on an organization, or below `/api/organizations/:organization_id/`. */
export function organizationOperation<Q extends TObject, B extends TSchema>(
  definition: Definition<OrganizationContext<Static<Q>, Static<B>>, Q, B>,
): Operation {
  const run = (admitted: Admitted): unknown =>
    definition.handle(admitted as OrganizationContext<Static<Q>, Static<B>>)
  return { ...definition, run }
}

/** An operation on a project, or below `/api/projects/:project_id/`. */
export function projectOperation<Q extends TObject, B extends TSchema>(
  definition: Definition<ProjectContext<Static<Q>, Static<B>>, Q, B>,
): Operation {
  const run = (admitted: Admitted): unknown =>
    definition.handle(admitted as ProjectContext<Static<Q>, Static<B>>)
  return { ...definition, run }
}
