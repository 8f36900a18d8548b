// A request body as JSON value: the right content type, UTF-8, no deeper than people write and of no more values.

import { isUtf8 } from 'node:buffer'
import { ServiceError } from '../errors.ts'
import { readJsonText } from '../http/json-text.ts'
import type { HttpRequest } from '../http/route.ts'

export const jsonBodyBytesMax = 1024 * 1024
/**
 * The filters of a flag are 256 KiB of at most 40,000 tokens as people write them; 40,000 names of their own are parsed
 * in 11 ms (Node 20.20), where a megabyte of them would take 120.
 */
const jsonLimits = { depthMax: 32, tokensMax: 40_000 }
const byteOrderMark = '\ufeff'

/**
 * Parses the body; an empty one is an object without fields.
 * Errors: unsupported_media_type, parse_error.
 */
export async function parseJsonBody(request: Pick<HttpRequest, 'headers' | 'body'>): Promise<unknown> {
  const { body, headers } = request
  if (body.byteLength === 0) return {}
  const contentType = headers['content-type']
  if (!/^application\/json\s*(?:;|$)/i.test(contentType)) {
    const detail = `Unsupported media type ${JSON.stringify(contentType)} in request.`
    throw new ServiceError('unsupported_media_type', { detail })
  }
  if (!isUtf8(body)) throw parseError('invalid UTF-8')
  const read = await readJsonText(body, jsonLimits)
  if (read.kind === 'fault') throw parseError(read.reason)
  try {
    return JSON.parse(read.text.startsWith(byteOrderMark) ? read.text.slice(1) : read.text)
  } catch (cause) {
    // V8's message quotes the text around the fault, which may be a secret: only what comes before is shown.
    const message = cause instanceof SyntaxError ? cause.message.split(/, "|, \.\.\."/)[0] : ''
    throw parseError(message ?? '', cause)
  }
}

function parseError(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('parse_error', { detail: `JSON parse error - ${reason}`, cause })
}
