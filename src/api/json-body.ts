// A request body as JSON value: the right content type, UTF-8, no deeper than people write.

import { ServiceError } from '../errors.ts'
import type { HttpRequest } from '../http/route.ts'
import type { Bytes } from '../lib/bytes.ts'

export const jsonBodyBytesMax = 1024 * 1024
export const jsonDepthMax = 32

const quote = 0x22
const backslash = 0x5c
const openers = new Set([0x5b, 0x7b])
const closers = new Set([0x5d, 0x7d])

/**
 * Parses the body; an empty one is an object without fields.
 * Errors: unsupported_media_type, parse_error.
 */
export function parseJsonBody(request: Pick<HttpRequest, 'headers' | 'body'>): unknown {
  const { body, headers } = request
  if (body.byteLength === 0) return {}
  const contentType = headers['content-type']
  if (!/^application\/json\s*(?:;|$)/i.test(contentType)) {
    const detail = `Unsupported media type ${JSON.stringify(contentType)} in request.`
    throw new ServiceError('unsupported_media_type', { detail })
  }
  if (isDeeperThan(body, jsonDepthMax)) {
    throw parseError(`nesting is deeper than ${jsonDepthMax} levels`)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    // V8's message quotes the text around the fault, which may be a secret: only what comes before is shown.
    const message =
      cause instanceof SyntaxError ? (cause.message.split(/, "|, \.\.\."/)[0] ?? '') : 'invalid UTF-8'
    throw parseError(message, cause)
  }
}

/** Counts brackets outside strings. Text that is not JSON may be counted wrong, and fails to parse afterwards. */
export function isDeeperThan(body: Bytes, depthMax: number): boolean {
  let depth = 0
  let isInString = false
  for (let index = 0; index < body.length; index++) {
    const byte = body[index]!
    if (isInString) {
      if (byte === backslash) index++
      else if (byte === quote) isInString = false
    } else if (byte === quote) isInString = true
    else if (openers.has(byte)) {
      if (++depth > depthMax) return true
    } else if (closers.has(byte)) depth--
  }
  return false
}

function parseError(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('parse_error', { detail: `JSON parse error - ${reason}`, cause })
}
