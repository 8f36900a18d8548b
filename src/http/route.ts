// What the rest of Spate sees of HTTP: a route, a complete request, a reply. Only this room knows uWebSockets.js.

import type { ErrorCode } from '../errors.ts'
import type { Bytes } from '../lib/bytes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Request headers the application may ask for, read before the body arrives ('' when absent). */
export type KeptHeader =
  | 'authorization'
  | 'content-type'
  | 'content-encoding'
  | 'host'
  | 'if-none-match'
  | 'origin'
  | 'user-agent'
  | 'x-forwarded-for'
  | 'http_x_forwarded_for'

/** A complete request. */
export interface HttpRequest {
  readonly method: Method
  /** Without query and without trailing slash. */
  readonly path: string
  /** Values of the route's `:name` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Raw, without the `?`. */
  readonly query: string
  readonly headers: Readonly<Record<KeptHeader, string>>
  /** Written once; empty when there is no body. Small ones share memory, which must not be moved to a thread. */
  readonly body: Bytes
  /**
   * Not null when the body stands at the beginning of memory that the next big one will have, too. That may be moved to
   * a thread, and is given back with this when it returns.
   */
  readonly giveBack: ((memory: ArrayBuffer) => void) | null
  /** Socket address, IPv4 in dotted form. */
  readonly peerAddress: string
  /** Calls `listener` if the client goes away before its reply, at once if it has. One listener a request. */
  readonly onGone: (listener: () => void) => void
}

export interface HttpReply {
  readonly status: number
  readonly contentType: string | null
  readonly body: string | Uint8Array
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** How a route's errors are written: capture answers text, everything else {type, code, detail, attr}. */
export type ErrorStyle = 'text' | 'json'

export interface Route {
  readonly methods: readonly Method[]
  /** Template such as `/api/projects/:project_id/events`; with and without trailing slash are one route. */
  readonly path: string
  /** `public`: every origin, credentials allowed, preflight answered, also on errors. `none`: no CORS headers. */
  readonly cors: 'public' | 'none'
  readonly errorStyle: ErrorStyle
  /** What a preflight is told besides; nothing when absent. */
  readonly preflight?: string
  readonly bodyBytesMax: number
  /** The error of a body over the limit. */
  readonly bodyTooLarge: ErrorCode
  /** A ServiceError becomes its reply; anything else is logged and becomes `internal`. */
  readonly handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>
}

export function textReply(status: number, body: string): HttpReply {
  return { status, contentType: 'text/plain; charset=utf-8', body, headers: [] }
}

export function jsonReply(status: number, value: unknown): HttpReply {
  return { status, contentType: 'application/json', body: JSON.stringify(value), headers: [] }
}

export function emptyReply(status: number): HttpReply {
  return { status, contentType: null, body: '', headers: [] }
}
