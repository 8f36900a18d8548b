// The body of a question for flags: packed in any of the ways capture knows, an object of JSON, as lenient as the
// oldest SDK needs.

import { openBody } from '../capture/body.ts'
import { errorRow, ServiceError } from '../errors.ts'
import { othersTurn, readJsonText } from '../http/json-text.ts'
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
  const value = parsed(read.text)
  await othersTurn(bytes)
  const body = objectIn(value === undefined ? await parsedWithNaN(read.text, bytes) : value)
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
  // It is read in several turns: the text of another body may stand there by then.
  if (opened.kind === 'text')
    return opened.bytes.buffer === request.body.buffer ? opened.bytes : opened.bytes.slice()
  if (opened.code === 'body_too_large') throw new ServiceError('request_too_large')
  throw malformed(opened.detail)
}

/** Undefined when it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // V8's message quotes the body: not repeated to the sender
  }
}

/** Python's json writes NaN, Infinity and -Infinity; they are read as null. */
async function parsedWithNaN(text: string, bytes: Bytes): Promise<unknown> {
  const repaired = withoutNaN(text)
  await othersTurn(bytes)
  const value = repaired === null ? undefined : parsed(repaired)
  if (value === undefined) throw malformed('invalid JSON')
  await othersTurn(bytes)
  return value
}

/** Null when it has none of them, or more of them than may stand between its commas. */
function withoutNaN(text: string): string | null {
  const words = /-?\b(?:NaN|Infinity)\b/g
  let result = ''
  let count = 0
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('"', at)
    const end = open < 0 ? text.length : open
    let outsideAt = at
    words.lastIndex = 0
    const outside = text.slice(at, end)
    for (let word = words.exec(outside); word !== null; word = words.exec(outside)) {
      if (++count > jsonLimits.tokensMax) return null
      result += `${text.slice(outsideAt, at + word.index)}null`
      outsideAt = at + words.lastIndex
    }
    result += text.slice(outsideAt, end)
    if (open < 0) break
    at = endOfString(text, open)
    result += text.slice(open, at)
  }
  return count === 0 ? null : result
}

/** Behind the string that begins at `open`. */
function endOfString(text: string, open: number): number {
  let end = open + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end + 1
}

function malformed(reason: string): ServiceError {
  return new ServiceError('malformed_data', { detail: `${errorRow('malformed_data').detail}: ${reason}` })
}
