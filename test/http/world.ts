// A server with a few routes, for the tests of this room.

import { pino } from 'pino'
import { ServiceError } from '../../src/errors.ts'
import { type HttpReply, type HttpRequest, jsonReply, type Route } from '../../src/http/route.ts'
import { type HttpOptions, type HttpServer, openHttpServer } from '../../src/http/server.ts'
import type { Clock } from '../../src/lib/clock.ts'

export const bodyBytesMax = 64 * 1024

export interface World {
  readonly server: HttpServer
  readonly port: number
  readonly seen: HttpRequest[]
  readonly logged: string[]
  readonly observed: string[]
  /** Replies of `/slow` wait here until called. */
  readonly releases: (() => void)[]
  /** When `/slow` heard that its client was gone. */
  readonly gone: string[]
  readonly clock: { ms: number }
}

/** A capture route but for what is given. */
export function route(more: Partial<Route> & Pick<Route, 'path' | 'handle'>): Route {
  return {
    methods: ['GET', 'POST'],
    cors: 'public',
    errorStyle: 'text',
    bodyBytesMax,
    bodyTooLarge: 'body_too_large',
    ...more,
  }
}

export async function openWorld(options: Partial<HttpOptions> = {}): Promise<World> {
  const seen: HttpRequest[] = []
  const logged: string[] = []
  const observed: string[] = []
  const releases: (() => void)[] = []
  const gone: string[] = []
  const moving = { ms: 0 }
  const clock: Clock = { nowMs: () => moving.ms, monotonicMs: () => moving.ms }
  const echo = (request: HttpRequest): HttpReply => {
    seen.push(request)
    return jsonReply(200, { status: 'Ok', size: request.body.byteLength })
  }
  const routes: Route[] = [
    route({ path: '/e', handle: echo }),
    route({ path: '/i/v0/e', handle: echo }),
    route({
      path: '/slow',
      handle: (request) => {
        request.onGone(() => gone.push('while it was handled'))
        return new Promise((resolve) => {
          releases.push(() => {
            resolve(echo(request))
            request.onGone(() => gone.push('before it was asked'))
          })
        })
      },
    }),
    route({
      path: '/refuse',
      handle: () => {
        throw new ServiceError('api_key_missing')
      },
    }),
    route({
      path: '/busy',
      handle: async () => {
        throw new ServiceError('journal_full', { retryAfterSeconds: 7 })
      },
    }),
    route({
      path: '/broken',
      handle: async () => {
        throw new Error('secret of the house')
      },
    }),
    route({ path: '/large', methods: ['GET'], handle: () => jsonReply(200, 'x'.repeat(8_000_000)) }),
    route({ path: '/decide', methods: ['POST'], handle: echo }),
    route({
      path: '/api/things/:thing_id/parts/:part_id',
      methods: ['GET', 'DELETE'],
      cors: 'none',
      errorStyle: 'json',
      handle: echo,
    }),
    route({ path: '/api/things/@current', methods: ['GET'], cors: 'none', errorStyle: 'json', handle: echo }),
  ]
  const server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    routes,
    log: pino(
      { base: null },
      { write: (line) => logged.push(`${JSON.parse(line).msg} ${JSON.parse(line).route}`) },
    ),
    observe: (path, method, status, _ms, bytesIn) =>
      observed.push(`${method} ${path} ${status} ${bytesIn} bytes`),
    limits: { sweepMs: 5 },
    clock,
    ...options,
  })
  return { server, port: server.port, seen, logged, observed, releases, gone, clock: moving }
}
