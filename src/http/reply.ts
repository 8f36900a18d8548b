// Replies as bytes on the wire: status line, the headers every reply of a route carries, errors in the route's style.

import type { HttpResponse } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errorRow, ServiceError } from '../errors.ts'
import { type ErrorStyle, type HttpReply, jsonReply, type Route, textReply } from './route.ts'

const securityHeaders = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
  // What may frame a page is no matter of default-src.
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
] as const

/** A year: a browser that was here once comes by https until then. */
const strictTransport = ['strict-transport-security', 'max-age=31536000'] as const

const retryAfterSecondsDefault = 1

/** The body of an error in the management style: its code is the public one. */
export interface ErrorBody {
  readonly type: string
  readonly code: string
  readonly detail: string
  readonly attr: string | null
}

export function errorBody(error: ServiceError): ErrorBody {
  const row = errorRow(error.code)
  return { type: row.type, code: row.publicCode ?? error.code, detail: error.detail, attr: error.attr }
}

/**
 * The reply of an error, in words the sender may see. Anything that is not a ServiceError becomes `internal`; logging
 * it is the caller's part.
 */
export function errorReply(style: ErrorStyle, thrown: unknown): HttpReply {
  const error = thrown instanceof ServiceError ? thrown : new ServiceError('internal')
  const row = errorRow(error.code)
  const reply =
    style === 'text' ? textReply(row.status, error.detail) : jsonReply(row.status, errorBody(error))
  const seconds = error.retryAfterSeconds ?? (row.retryable ? retryAfterSecondsDefault : null)
  return seconds === null ? reply : { ...reply, headers: [['retry-after', String(seconds)]] }
}

/** The error `code` with its own wording, then the specifics. */
export function specificError(code: ErrorCode, specifics: string): ServiceError {
  return new ServiceError(code, { detail: `${errorRow(code).detail.replace(/\.$/, '')}: ${specifics}` })
}

/**
 * Writes the status line and every header but the length. Call it corked, once per response. `isHttps`: people reach
 * this server by https.
 */
export function writeReplyHead(
  res: HttpResponse,
  route: Route,
  origin: string,
  reply: HttpReply,
  isHttps: boolean,
): void {
  // uWebSockets.js writes 200 by itself, and each call into it takes time.
  if (reply.status !== 200) res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? 'Unknown'}`)
  if (reply.contentType !== null) res.writeHeader('content-type', reply.contentType)
  for (const [name, value] of reply.headers) res.writeHeader(name, value)
  if (route.cors === 'public') writeCorsHeaders(res, origin)
  else if (route.errorStyle === 'json') writeSecurityHeaders(res, reply, isHttps)
}

/**
 * Any page may send events, with its cookies. Errors carry the headers too: without them a browser shows the page
 * status 0, and posthog-js takes that for a network fault and tries again.
 */
export function writeCorsHeaders(res: HttpResponse, origin: string): void {
  if (origin === '') return
  res.writeHeader('access-control-allow-origin', origin)
  res.writeHeader('access-control-allow-credentials', 'true')
  res.writeHeader('vary', 'origin, access-control-request-method, access-control-request-headers')
}

function writeSecurityHeaders(res: HttpResponse, reply: HttpReply, isHttps: boolean): void {
  if (isHttps) res.writeHeader(...strictTransport)
  for (const [name, value] of securityHeaders) {
    if (!reply.headers.some(([own]) => own === name)) res.writeHeader(name, value)
  }
}
