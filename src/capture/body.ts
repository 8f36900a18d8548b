// From what arrived to JSON text: finds the payload of a capture request (query, form or body), undoes base64, gzip
// and lz64, and proves that the result is UTF-8. Everything is accepted on every path, since SDKs of all ages mix
// them; what is accepted beyond the public API could not have been a valid request otherwise.

import { isUtf8 } from 'node:buffer'
import type { Bytes } from '../lib/bytes.ts'
import { decodeBase64 } from './base64.ts'
import type { CaptureLimits, CapturePath, CaptureTask } from './capture-task.ts'
import { isFormType, looksLikeForm, parseForm } from './form.ts'
import { gunzip } from './gunzip.ts'
import { isGzip } from './gzip-frame.ts'
import { decodeLz64 } from './lz64.ts'
import { type Payload, payload, type Refusal, undecodable } from './payload.ts'
import { type CaptureQuery, type Compression, parseCompression, parseQuery } from './query.ts'

/** A body as it came, with what tells how it is packed. */
export interface PackedBody
  extends Pick<CaptureTask, 'path' | 'query' | 'contentType' | 'contentEncoding' | 'body'> {
  readonly limits: Pick<CaptureLimits, 'decompressedBytesMax'>
  /** Bytes that are no UTF-8 are left to the reader; they are refused otherwise. */
  readonly isLossy?: boolean
}

export type BodyOutcome =
  | {
      readonly kind: 'text'
      /**
       * Without byte order mark, not empty; valid UTF-8 unless it may be lossy. A view, perhaps on the
       * task's body, or on memory that the next body is inflated to.
       */
      readonly bytes: Bytes
      /** When the sender says in the query it sent the request, epoch ms. The body's own sent_at goes first. */
      readonly sentAtMs: number | null
      /** `?beacon=1`: success is 204. */
      readonly beacon: boolean
      /** Size after decompression. */
      readonly decompressedBytes: number
    }
  | Refusal

interface Found {
  readonly kind: 'found'
  readonly bytes: Bytes
  /** The form's `compression` field. */
  readonly formCompression: string
}

const missing: Refusal = { kind: 'refused', code: 'payload_missing', detail: 'request missing data payload' }

/** Paths whose text is unwrapped from base64 once more. */
const legacyPaths: readonly CapturePath[] = ['/e', '/capture', '/engage', '/track']

/** Opens a body. Refusals: payload_missing, payload_undecodable, body_too_large. */
export function openBody(task: PackedBody): BodyOutcome {
  const query = parseQuery(task.query)
  const found = findPayload(task, query)
  if (found.kind === 'refused') return found
  const hint =
    query.compression ?? parseCompression(found.formCompression) ?? parseCompression(task.contentEncoding)
  const inflated = inflate(found.bytes, hint, task.limits.decompressedBytesMax)
  if (inflated.kind === 'refused') return inflated
  const unwrapped = legacyPaths.includes(task.path) ? decodeBase64(inflated.bytes) : null
  const text = unwrapped ?? inflated.bytes
  if (task.isLossy !== true && !isUtf8(text)) return undecodable(reasonNotText(task.contentEncoding))
  const bytes = startsWithMark(text) ? text.subarray(3) : text
  if (bytes.length === 0) return missing
  return {
    kind: 'text',
    bytes,
    sentAtMs: query.sentAtMs,
    beacon: query.beacon,
    decompressedBytes: text.length,
  }
}

/** Query before body; a form's `data` field in place of the form. */
function findPayload(task: PackedBody, query: CaptureQuery): Found | Refusal {
  const { body } = task
  if (query.data !== null) return { kind: 'found', bytes: query.data, formCompression: '' }
  if (body.length === 0) return missing
  // A beacon sends its form as text/plain. A form type on gzip bytes is what curl adds to any body.
  const isForm = isFormType(task.contentType) ? !isGzip(body) : startsWithData(body)
  if (!isForm) return { kind: 'found', bytes: body, formCompression: '' }
  if (!looksLikeForm(body)) return undecodable('expected form data in POST request payload')
  const form = parseForm(body)
  if (form.data === null) return undecodable('expected a form field "data"')
  if (form.data.length === 0) return missing
  return { kind: 'found', bytes: form.data, formCompression: form.compression }
}

/** Undoes base64 and compression. The gzip magic outranks every hint; lz64 is itself base64 text. */
function inflate(found: Bytes, hint: Compression | null, bytesMax: number): Payload {
  if (hint === 'lz64' && !isGzip(found)) return decodeLz64(found, bytesMax)
  const decoded = decodeBase64(found)
  const bytes = decoded ?? found
  if (hint === 'gzip' || isGzip(bytes)) return gunzip(bytes, bytesMax)
  if (hint === 'base64' && decoded === null && !startsLikeJson(bytes))
    return undecodable('invalid base64 data')
  return payload(bytes)
}

function reasonNotText(contentEncoding: string): string {
  const isKnown = contentEncoding === '' || parseCompression(contentEncoding) !== null
  return isKnown ? 'invalid UTF-8 data' : 'invalid UTF-8 data; Content-Encoding must be gzip, lz64 or base64'
}

function startsWithData(bytes: Bytes): boolean {
  return bytes[0] === 0x64 && bytes[1] === 0x61 && bytes[2] === 0x74 && bytes[3] === 0x61 && bytes[4] === 0x3d
}

function startsWithMark(bytes: Bytes): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

/** JSON that an SDK would send: an object or an array, perhaps after white space or a byte order mark. */
function startsLikeJson(bytes: Bytes): boolean {
  const start = startsWithMark(bytes) ? 3 : 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === 0x7b || byte === 0x5b) return true
    if (byte > 0x20) return false
  }
  return false
}
