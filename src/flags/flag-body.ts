// The body of a question for flags: packed in any of the ways capture knows, an object of JSON, as lenient as the
// oldest SDK needs.

import { openBody } from '../capture/body.ts'
import { errorRow, ServiceError } from '../errors.ts'
import { readJsonText } from '../http/json-text.ts'
import type { HttpRequest } from '../http/route.ts'
import type { Bytes } from '../lib/bytes.ts'
import { type JsonObject, objectIn } from './json-value.ts'
import { withNumbersAsSent } from './number-text.ts'

/** A question is a few KiB: properties to evaluate, not events. It is opened and read on the main thread. */
export const flagBodyBytesMax: number = 1024 * 1024
/** Undoing lz64 takes 8 ms for as much (Node 20.20). */
const decompressedBytesMax = 1024 * 1024
const jsonLimits = { depthMax: 64, tokensMax: 20_000 }
/** Members that are ids. */
const idNames = ['distinct_id', '$distinct_id', '$anon_distinct_id', 'anon_distinct_id'] as const

/**
 * Opens and parses the body. `isLossy`: bytes that are no UTF-8 are U+FFFD, not an error.
 * Errors: malformed_data, request_too_large.
 */
export async function readFlagBody(
  request: Pick<HttpRequest, 'query' | 'headers' | 'body'>,
  isLossy: boolean,
): Promise<JsonObject> {
  const bytes = openFlagBody(request, isLossy)
  const read = await readJsonText(bytes, jsonLimits)
  if (read.kind === 'fault') throw malformed(read.reason)
  const body = objectIn(parse(read.text))
  if (body === null) throw malformed('expected an object')
  return withNumbersAsSent(body, bytes, idNames)
}

function openFlagBody(request: Pick<HttpRequest, 'query' | 'headers' | 'body'>, isLossy: boolean): Bytes {
  const opened = openBody({
    path: '/e', // the path on which everything is undone that SDKs of any age have done
    query: request.query,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
    body: request.body,
    limits: { decompressedBytesMax },
    isLossy,
  })
  if (opened.kind === 'text') return opened.bytes
  if (opened.code === 'body_too_large') throw new ServiceError('request_too_large')
  throw malformed(opened.detail)
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
