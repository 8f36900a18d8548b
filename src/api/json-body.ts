// A request body as JSON value: the right content type, UTF-8, no deeper than people write.

import { ServiceError } from '../errors.ts'
import type { HttpRequest } from '../http/route.ts'
import { jsonShapeFault } from '../lib/json-shape.ts'

export const jsonBodyBytesMax = 1024 * 1024
export const jsonDepthMax = 32

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
  if (jsonShapeFault(body, jsonDepthMax) !== null) {
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

function parseError(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('parse_error', { detail: `JSON parse error - ${reason}`, cause })
}
