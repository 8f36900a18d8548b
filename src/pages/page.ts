// Pages for people: HTML, scripts and styles from this server alone. Nothing is written into a page at the time of a
// request, and what a script puts there it puts as text.

import type { HttpReply, HttpRequest, Route } from '../http/route.ts'

const contentTypes = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  png: 'image/png',
} as const
export type FileKind = keyof typeof contentTypes

/**
 * No other origin, no script within the page. Swagger UI sets styles on its elements and brings its icons as data:
 * addresses.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A reply that browsers ask for again each time, or never when `isImmutable`. */
export function fileReply(kind: FileKind, body: string | Uint8Array, isImmutable = false): HttpReply {
  const caching = isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'
  return {
    status: 200,
    contentType: contentTypes[kind],
    body,
    headers: [
      ['cache-control', caching],
      ['content-security-policy', contentSecurityPolicy],
    ],
  }
}

export function pageRoute(
  path: string,
  handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>,
): Route {
  return {
    methods: ['GET'],
    path,
    cors: 'none',
    errorStyle: 'json',
    bodyBytesMax: 0,
    bodyTooLarge: 'request_too_large',
    handle,
  }
}
