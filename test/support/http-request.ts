// Requests for tests of what stands behind HTTP.

import type { HttpRequest } from '../../src/http/route.ts'

/** A GET of `/` without headers or body, with what is given in place. */
export function requestOf(
  given: Partial<Omit<HttpRequest, 'headers'>> & { headers?: Partial<HttpRequest['headers']> } = {},
): HttpRequest {
  const headers: HttpRequest['headers'] = {
    authorization: '',
    'content-type': '',
    'content-encoding': '',
    host: '',
    'if-none-match': '',
    origin: '',
    'user-agent': '',
    'x-forwarded-for': '',
    http_x_forwarded_for: '',
    ...given.headers,
  }
  const defaults = {
    method: 'GET',
    path: '/',
    params: {},
    query: '',
    body: new Uint8Array(0),
    giveBack: null,
    peerAddress: '',
    onGone: () => {},
  } as const
  return { ...defaults, ...given, headers }
}
