// What every decoding step of a body hands on: bytes, or the refusal that ends the request. Refusals are values, not
// errors, because they cross threads.

import type { ErrorCode } from '../errors.ts'
import { type Bytes, formatBytes } from '../lib/bytes.ts'

export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  /** Starts with the wording that SDKs and people know of this code, then says what was wrong. */
  readonly detail: string
}

export type Payload = { readonly kind: 'bytes'; readonly bytes: Bytes } | Refusal

/** A plain view of `bytes`, so that the loops over it only ever meet one class of array. */
export function payload(bytes: Uint8Array<ArrayBuffer>): Payload {
  const isPlain = bytes.constructor === Uint8Array
  return {
    kind: 'bytes',
    bytes: isPlain ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  }
}

export function undecodable(reason: string): Refusal {
  return { kind: 'refused', code: 'payload_undecodable', detail: `failed to decode request: ${reason}` }
}

/** The refusal of a body that inflates to more than `bytesMax`. */
export function inflatesTooLarge(bytesMax: number): Refusal {
  const limit = `${formatBytes(bytesMax)} (MAX_DECOMPRESSED_BYTES)`
  return {
    kind: 'refused',
    code: 'body_too_large',
    detail: `maximum event size exceeded: body inflates to more than ${limit}`,
  }
}
