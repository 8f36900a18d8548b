// The body of a question for flags: packed in any of the ways capture knows, an object of JSON, as lenient as the
// oldest SDK needs.

import { isDeeperThan } from '../api/json-body.ts'
import { openBody } from '../capture/body.ts'
import { errorRow, ServiceError } from '../errors.ts'
import type { HttpRequest } from '../http/route.ts'
import { type JsonObject, objectIn } from './json-value.ts'

/** A question is a few KiB: properties to evaluate, not events. It is opened on the main thread. */
export const flagBodyBytesMax: number = 1024 * 1024
const decompressedBytesMax = 2 * 1024 * 1024
const depthMax = 64

/** Opens and parses the body. Errors: malformed_data, request_too_large. */
export function parseFlagBody(request: Pick<HttpRequest, 'query' | 'headers' | 'body'>): JsonObject {
  const opened = openBody({
    path: '/e', // the path on which everything is undone that SDKs of any age have done
    query: request.query,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
    body: request.body,
    limits: { decompressedBytesMax },
  })
  if (opened.kind === 'refused') {
    if (opened.code === 'body_too_large') throw new ServiceError('request_too_large')
    throw malformed(opened.detail)
  }
  if (isDeeperThan(opened.bytes, depthMax)) throw malformed(`nesting is deeper than ${depthMax} levels`)
  const { buffer, byteOffset, byteLength } = opened.bytes
  const body = objectIn(parse(Buffer.from(buffer, byteOffset, byteLength).toString()))
  if (body === null) throw malformed('expected an object')
  return body
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not repeated to the sender: V8's message quotes the body.
  }
  try {
    if (/NaN|Infinity/.test(text)) return JSON.parse(withoutNaN(text))
  } catch {
    // As above.
  }
  throw malformed('invalid JSON')
}

/** Python's json writes NaN, Infinity and -Infinity; they are read as null. */
function withoutNaN(text: string): string {
  let result = ''
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('"', at)
    const outside = text.slice(at, open < 0 ? text.length : open)
    result += outside.replace(/-?\b(?:NaN|Infinity)\b/g, 'null')
    if (open < 0) break
    let end = open + 1
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    result += text.slice(open, end + 1)
    at = end + 1
  }
  return result
}

function malformed(reason: string): ServiceError {
  return new ServiceError('malformed_data', { detail: `${errorRow('malformed_data').detail}: ${reason}` })
}
