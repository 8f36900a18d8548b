// The head of a request, read in one pass while uWebSockets.js still has it.

import type { HttpResponse, HttpRequest as RequestHead } from 'uWebSockets.js'
import { formatAddress } from './address.ts'
import type { KeptHeader } from './route.ts'

export interface Head {
  readonly query: string
  readonly headers: Readonly<Record<KeptHeader, string>>
  /** Content-Length, 0 when there is none. */
  readonly declaredBytes: number
  readonly hasBody: boolean
  /** Why the framing of this request cannot be trusted, '' when it can. */
  readonly malformed: string
  readonly peerAddress: string
}

/**
 * Reads what is kept of a head. One `forEach` costs as much as six `getHeader` calls (126 k against 123 k requests/s of
 * a trivial handler, Node 20) and is the only way to see a header that came twice. Names are compared one by one: they
 * are new strings each time, and to find one in a table takes its hash.
 */
export function readHead(res: HttpResponse, req: RequestHead): Head {
  let authorization = ''
  let contentType = ''
  let contentEncoding = ''
  let host = ''
  let ifNoneMatch = ''
  let origin = ''
  let userAgent = ''
  let forwardedFor = ''
  let forwardedForAsSent = ''
  let length: string | null = null
  let isChunked = false
  let malformed = ''
  req.forEach((name, value) => {
    if (name === 'host') host = value
    else if (name === 'content-type') contentType = value
    else if (name === 'content-encoding') contentEncoding = value
    else if (name === 'user-agent') userAgent = value
    else if (name === 'origin') origin = value
    else if (name === 'authorization') authorization = value
    else if (name === 'if-none-match') ifNoneMatch = value
    else if (name === 'http_x_forwarded_for') forwardedForAsSent = value
    else if (name === 'x-forwarded-for') {
      // Proxies may add a line of their own instead of extending the first (RFC 9110 §5.3 makes both one list).
      forwardedFor = forwardedFor === '' ? value : `${forwardedFor}, ${value}`
    } else if (name === 'content-length') {
      // uWebSockets.js takes the first of two lengths and a proxy in front may take the second: request smuggling.
      if (length !== null && length !== value) malformed = 'two different Content-Length headers'
      if (!/^\d+$/.test(value)) malformed = 'Content-Length is not a number'
      length = value
    } else if (name === 'transfer-encoding') {
      if (value.toLowerCase() !== 'chunked') malformed = 'Transfer-Encoding is not chunked'
      isChunked = true
    }
  })
  const declaredBytes = Number(length ?? 0)
  return {
    query: req.getQuery() ?? '', // undefined without a `?`, whatever the types say
    headers: {
      authorization,
      'content-type': contentType,
      'content-encoding': contentEncoding,
      host,
      'if-none-match': ifNoneMatch,
      origin,
      'user-agent': userAgent,
      'x-forwarded-for': forwardedFor,
      http_x_forwarded_for: forwardedForAsSent,
    },
    declaredBytes,
    hasBody: isChunked || declaredBytes > 0,
    malformed,
    peerAddress: formatAddress(new Uint8Array(res.getRemoteAddress())),
  }
}
