// Routes as uWebSockets.js patterns: every path with and without its trailing slash, HEAD where GET is, preflights,
// 405 for the other methods of a known path, 404 for the rest.

import type { HttpResponse, HttpRequest as RequestHead, TemplatedApp } from 'uWebSockets.js'
import { ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import { Exchange, type ExchangeHost, type Target } from './exchange.ts'
import { readHead } from './head.ts'
import { errorReply, writeCorsHeaders } from './reply.ts'
import { emptyReply, type HttpReply, type Method, type Route } from './route.ts'

type Handler = (res: HttpResponse, req: RequestHead) => void

const register = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'del' } as const
const preflightSecondsMax = '86400'
/** Of a body sent where nothing is: read past, not kept. */
const strayBodyBytesMax = 1024 * 1024

/** Registers `routes` on `app`. Two routes for one method and path are a programmer's error. */
export function registerRoutes(app: TemplatedApp, routes: readonly Route[], host: ExchangeHost): void {
  const byPath = new Map<string, Route[]>()
  for (const route of routes) {
    const others = byPath.get(route.path) ?? []
    assert(isCanonical(route.path), `${route.path} starts with a slash and does not end with one`)
    const clash = others.find((other) => other.methods.some((method) => route.methods.includes(method)))
    assert(clash === undefined, `one route for each method of ${route.path}`)
    byPath.set(route.path, [...others, route])
  }
  for (const [path, ofPath] of byPath) {
    const patterns = path === '/' ? ['/'] : [path, `${path}/`]
    for (const pattern of patterns) registerPath(app, pattern, ofPath, host)
  }
  app.any('/*', nothingThere(host, 'text'))
  app.any('/api/*', nothingThere(host, 'json'))
}

function isCanonical(path: string): boolean {
  return path.startsWith('/') && (path === '/' || !path.endsWith('/'))
}

function registerPath(
  app: TemplatedApp,
  pattern: string,
  routes: readonly Route[],
  host: ExchangeHost,
): void {
  for (const route of routes) {
    for (const method of route.methods) {
      app[register[method]](pattern, serve(host, route, method, false))
      if (method === 'GET') app.head(pattern, serve(host, route, method, true))
    }
  }
  const isPublic = routes.some((route) => route.cors === 'public')
  const told = routes.find((route) => route.preflight !== undefined)?.preflight ?? ''
  if (isPublic) app.options(pattern, (res, req) => answerPreflight(res, req, told))
  app.any(pattern, refuseMethod(host, routes, isPublic))
}

/** The hot path: one closure per route and method, made here and not per request. */
function serve(host: ExchangeHost, route: Route, method: Method, isHead: boolean): Handler {
  const names = route.path.split('/').flatMap((segment) => (segment.startsWith(':') ? segment.slice(1) : []))
  if (names.length === 0) {
    const target: Target = { route, method, isHead, path: route.path, params: {} }
    return (res, req) => {
      new Exchange(host, target, res, readHead(res, req)).serve()
    }
  }
  return (res, req) => {
    const params: Record<string, string> = {}
    for (const [index, name] of names.entries()) params[name] = decodeSegment(req.getParameter(index) ?? '')
    const path = req.getUrl().replace(/\/$/, '')
    new Exchange(host, { route, method, isHead, path, params }, res, readHead(res, req)).serve()
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not percent-encoded text, so it names nothing we gave out; as it is, it will not be found.
    return segment
  }
}

function refuseMethod(host: ExchangeHost, routes: readonly Route[], isPublic: boolean): Handler {
  const allowed: string[] = routes.flatMap((route) => route.methods)
  if (allowed.includes('GET')) allowed.push('HEAD')
  if (isPublic) allowed.push('OPTIONS')
  const allow = allowed.join(', ')
  const route = routes[0]!
  return (res, req) => {
    const detail = `Method "${req.getCaseSensitiveMethod()}" not allowed.`
    const reply = errorReply(route.errorStyle, new ServiceError('method_not_allowed', { detail }))
    refuse(host, route, { ...reply, headers: [['allow', allow]] }, res, req)
  }
}

/** Outside the management API any page may ask: SDKs look for endpoints that this server does not have. */
function nothingThere(host: ExchangeHost, errorStyle: 'text' | 'json'): Handler {
  const reply = errorStyle === 'json' ? errorReply('json', new ServiceError('not_found')) : emptyReply(404)
  const isPublic = errorStyle === 'text'
  const route: Route = {
    methods: [],
    path: '',
    cors: isPublic ? 'public' : 'none',
    errorStyle,
    bodyBytesMax: strayBodyBytesMax,
    bodyTooLarge: 'request_too_large',
    handle: () => reply,
  }
  return (res, req) => {
    if (isPublic && req.getMethod() === 'options') answerPreflight(res, req, '')
    else refuse(host, route, reply, res, req)
  }
}

function refuse(
  host: ExchangeHost,
  route: Route,
  reply: HttpReply,
  res: HttpResponse,
  req: RequestHead,
): void {
  const isHead = req.getMethod() === 'head'
  const target: Target = { route, method: 'GET', isHead, path: '', params: {} }
  new Exchange(host, target, res, readHead(res, req)).refuse(reply)
}

/** Answered on the spot: a preflight has no body and asks for nothing that could fail. */
function answerPreflight(res: HttpResponse, req: RequestHead, told: string): void {
  const requested = req.getHeader('access-control-request-headers')
  res.writeStatus('200 OK')
  writeCorsHeaders(res, req.getHeader('origin'))
  res.writeHeader('access-control-allow-methods', 'GET,POST,OPTIONS')
  if (requested !== '') res.writeHeader('access-control-allow-headers', requested)
  res.writeHeader('access-control-max-age', preflightSecondsMax)
  if (told !== '') res.writeHeader('content-type', 'application/json')
  res.end(told)
}
