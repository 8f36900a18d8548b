// Operations as HTTP routes: admission, input, output.

import type { TObject, TSchema } from 'typebox'
import { isServiceError, ServiceError } from '../errors.ts'
import { errorReply } from '../http/reply.ts'
import {
  emptyReply,
  type HttpReply,
  type HttpRequest,
  jsonReply,
  type Method,
  type Route,
} from '../http/route.ts'
import { assert } from '../lib/assert.ts'
import { isBusy, type Postgres } from '../postgres/pool.ts'
import { type Access, accessOf, isGranted, levels, type TenantInPath, tenantIn } from './access.ts'
import { readInput } from './input.ts'
import { checkReadable } from './input-schema.ts'
import { jsonBodyBytesMax, parseJsonBody } from './json-body.ts'
import { type Admitted, FileBytes, JsonText, type Operation } from './operation.ts'
import { type Authentication, isProjectSecret, type Principal } from './principal.ts'
import {
  checkLevel,
  checkProjectScope,
  enterOrganization,
  enterProject,
  enterTokensProject,
  type Organization,
  type Project,
} from './tenant.ts'
import { organizationSql, principalSql, projectSql, type TenantSql } from './tenant-sql.ts'
import { Turns } from './turns.ts'

/** An attempt at what the caller may not do. */
export interface Denial {
  readonly principal: Principal
  readonly address: string
  readonly method: Method
  /** Template. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly detail: string
}

export interface OperationOptions {
  readonly postgres: Postgres
  readonly authentication: Authentication
  /** Where a request came from, for limits. */
  readonly addressOf: (request: HttpRequest) => string
  /** Id of the project of a project API key. Errors: authentication_failed, projects_unavailable. */
  readonly projectOfToken: (token: string) => Promise<number>
  /** Told of whoever has a key and was not let do something. Never fails. */
  readonly onDenied: (denial: Denial) => Promise<void>
  /** SITE_URL; null to build links from the request's Host. */
  readonly siteUrl: string | null
}

interface Rooms extends OperationOptions {
  readonly turns: Turns
}

/** As the tenant of a path: the caller's own; a project also by `?token=`, its project API key. */
const current = '@current'
const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Makes the routes of `operations`. Fails when one has no row in the access table or describes its input in words that
 * would not be checked.
 */
export function operationRoutes(operations: readonly Operation[], options: OperationOptions): Route[] {
  const rooms: Rooms = { ...options, turns: new Turns() }
  const byPath = new Map<string, Operation[]>()
  for (const operation of operations) {
    byPath.set(operation.path, [...(byPath.get(operation.path) ?? []), operation])
  }
  return [...byPath].flatMap(([path, ofPath]) => [
    ...ofPath.map((operation) => operationRoute(operation, rooms)),
    ...missingMethods(path, ofPath, rooms),
  ])
}

function operationRoute(operation: Operation, options: Rooms): Route {
  const { method, path, query, body } = operation
  const door: Door = { path, access: accessOf(method, path), tenant: tenantIn(path) }
  for (const schema of [query, body]) if (schema !== null) checkReadable(schema, `${method} ${path}`)
  const handle = async (request: HttpRequest, admission: Admission): Promise<HttpReply> => {
    const admitted: Admitted = {
      ...admission,
      request,
      url: urlOf(request, options.siteUrl),
      address: options.addressOf(request),
      params: request.params,
      query: query === null ? {} : readInput(query, filtersIn(query, request.query)),
      body: body === null ? null : readInput(body, await parseJsonBody(request)),
    }
    return replyOf(operation, await operation.run(admitted), request.headers['if-none-match'])
  }
  return route(path, [method], (request) => admitted(door, request, options, handle).catch(challenge))
}

/** What a query string says. A filter by a UUID or a moment that is left blank is none. */
function filtersIn({ properties }: TObject, query: string): object {
  const given = [...new URLSearchParams(query)]
  // Of properties that are there: any TypeBox schema.
  const hasFormat = (name: string): boolean => 'format' in ((properties[name] ?? {}) as TSchema)
  return Object.fromEntries(given.filter(([name, value]) => value !== '' || !hasFormat(name)))
}

/** Answers the methods that `path` does not have, once the caller has shown the right to know. */
function missingMethods(path: string, operations: readonly Operation[], options: Rooms): Route[] {
  const present = operations.map((operation) => operation.method)
  const missing = methods.filter((method) => !present.includes(method))
  const access = accessOf(operations[0]!.method, path)
  if (missing.length === 0 || access.scope === 'public') return []
  const door: Door = { path, access: { ...access, scope: 'any_key', level: null }, tenant: tenantIn(path) }
  const allow = [...present, ...(present.includes('GET') ? ['HEAD'] : [])].join(', ')
  const handle = (request: HttpRequest): HttpReply => {
    const detail = `Method "${request.method}" not allowed.`
    const reply = errorReply('json', new ServiceError('method_not_allowed', { detail }))
    return { ...reply, headers: [['allow', allow]] }
  }
  return [route(path, missing, (request) => admitted(door, request, options, handle).catch(challenge))]
}

function route(path: string, methods: readonly Method[], handle: Route['handle']): Route {
  return {
    methods,
    path,
    cors: 'none',
    errorStyle: 'json',
    bodyBytesMax: jsonBodyBytesMax,
    bodyTooLarge: 'request_too_large',
    handle,
  }
}

/** What is asked of whoever comes by a path. */
interface Door {
  readonly path: string
  readonly access: Access
  readonly tenant: TenantInPath | null
}

type Admission = Pick<Admitted, 'principal' | 'sql' | 'organization' | 'project'>

type Handle = (request: HttpRequest, admission: Admission) => HttpReply | Promise<HttpReply>

/** Answers by `handle` whoever may come in. Errors: whatever keeps the caller out; those of `handle`. */
async function admitted(
  door: Door,
  request: HttpRequest,
  options: Rooms,
  handle: Handle,
): Promise<HttpReply> {
  const { access, path } = door
  if (access.scope === 'public') {
    return await handle(request, { principal: null, sql: null, organization: null, project: null })
  }
  const { authorization } = request.headers
  if (access.takesProjectSecret && isProjectSecret(authorization)) {
    return await handle(request, await admitProject(door, request, options))
  }
  const address = options.addressOf(request)
  const principal = await options.authentication.authenticate(authorization, address, access.allowance)
  try {
    return await handle(request, await admit(door, request, options, principal))
  } catch (error) {
    if (isServiceError(error, 'permission_denied')) {
      const { method, params } = request
      await options.onDenied({ principal, address, method, path, params, detail: error.detail })
    }
    throw error
  }
}

async function admit(
  { access, path, tenant }: Door,
  request: HttpRequest,
  options: Rooms,
  principal: Principal,
): Promise<Admission> {
  if (access.scope !== 'any_key' && access.scope !== 'public' && !isGranted(principal.scopes, access.scope)) {
    const detail = `API key missing required scope '${access.scope}'`
    throw new ServiceError('permission_denied', { detail })
  }
  if (path === '/api/organizations') checkProjectScope(principal)
  const { sql, organization, project } = await enterTenant(options, principal, tenant, request)
  const entered = project?.organization ?? organization
  if (access.level !== null) {
    assert(entered !== null, 'a path with a level names a tenant')
    checkLevel(entered, access.level)
  }
  return { principal, sql: options.turns.of(principal.userId, sql), organization, project }
}

/** Nobody: who asks with the key of a project is no user. */
const nobody = 0

/** Errors: whatever keeps the caller out; permission_denied for another project than the key's. */
async function admitProject(
  { access, tenant }: Door,
  request: HttpRequest,
  options: Rooms,
): Promise<Admission> {
  const { authentication, addressOf, projectOfToken, postgres, turns } = options
  const { id, organizationId } = await authentication.authenticateProject(
    request.headers.authorization,
    addressOf(request),
    access.allowance,
  )
  const given = tenant?.param ? (request.params[tenant.param] ?? '') : current
  const token = given === current ? new URLSearchParams(request.query).get('token') : null
  const asked = token ? await projectOfToken(token) : given === current ? id : Number(given)
  if (asked !== id) throw new ServiceError('permission_denied')
  const project: Project = { id, organization: { id: organizationId, level: levels.member } }
  const sql = turns.of(-id, projectSql(postgres, nobody, project))
  return { principal: null, sql, organization: null, project }
}

interface Tenant {
  readonly sql: TenantSql
  readonly organization: Organization | null
  readonly project: Project | null
}

async function enterTenant(
  { postgres, projectOfToken }: OperationOptions,
  principal: Principal,
  tenant: TenantInPath | null,
  { params, query }: HttpRequest,
): Promise<Tenant> {
  if (tenant === null) {
    return { sql: principalSql(postgres, principal), organization: null, project: null }
  }
  const given = tenant.param === null ? current : (params[tenant.param] ?? '')
  if (tenant.kind === 'organization') {
    const organization = await enterOrganization(postgres, principal, given, tenant.isItself)
    return { sql: organizationSql(postgres, principal.userId, organization), organization, project: null }
  }
  const token = given === current ? new URLSearchParams(query).get('token') : null
  const project = token
    ? await enterTokensProject(postgres, principal, await projectOfToken(token))
    : await enterProject(postgres, principal, given)
  return { sql: projectSql(postgres, principal.userId, project), organization: null, project }
}

function replyOf({ status, response, fileType }: Operation, result: unknown, known: string): HttpReply {
  if (response === null) return emptyReply(status)
  if (result instanceof FileBytes) {
    return { status, contentType: fileType ?? 'application/octet-stream', body: result.bytes, headers: [] }
  }
  if (!(result instanceof JsonText)) return jsonReply(status, result)
  const { text, etag } = result
  if (etag === null) return { status, contentType: 'application/json', body: text, headers: [] }
  // A proxy that compresses makes a tag weak.
  const isKnown = known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
  if (isKnown) return { ...emptyReply(304), headers: [['etag', etag]] }
  return { status, contentType: 'application/json', body: text, headers: [['etag', etag]] }
}

/** Tells with each 401 which scheme would be understood. */
function challenge(error: unknown): HttpReply {
  if (isBusy(error)) throw new ServiceError('database_busy', { cause: error, retryAfterSeconds: 5 })
  if (!isServiceError(error, 'not_authenticated', 'authentication_failed')) throw error
  return { ...errorReply('json', error), headers: [['www-authenticate', 'Bearer realm="api"']] }
}

/** A Host that is no host name leads nowhere; it is not echoed. */
const hostName = /^[\w.-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i

function urlOf({ headers, path, query }: HttpRequest, siteUrl: string | null): string {
  const base = siteUrl ?? (hostName.test(headers.host) ? `http://${headers.host}` : '')
  return `${base}${path}/${query === '' ? '' : `?${query}`}`
}
