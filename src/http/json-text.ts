// The JSON text of a body that is read on the main thread. Values cost more than bytes, so they are counted before they
// are made; and what is large is looked through, decoded and parsed in turns of their own, so that nobody else waits
// for all of it.

import { setImmediate } from 'node:timers/promises'
import type { Bytes } from '../lib/bytes.ts'
import { jsonShapeFault } from '../lib/json-shape.ts'

export interface JsonLimits {
  readonly depthMax: number
  /** Brackets, commas and colons: JSON.parse takes up to 0.3 µs for each. */
  readonly tokensMax: number
}

export type JsonTextOutcome =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'fault'; readonly reason: string }

const inOneTurnBytesMax = 64 * 1024

/**
 * Decodes `bytes` when their shape is within `limits`; what is no UTF-8 becomes U+FFFD. Of large ones each step has a
 * turn of its own, of 4 to 8 ms for a megabyte (Node 20.20), and the caller's parsing is in another.
 */
export async function readJsonText(bytes: Bytes, limits: JsonLimits): Promise<JsonTextOutcome> {
  const { depthMax, tokensMax } = limits
  await othersTurn(bytes)
  const fault = jsonShapeFault(bytes, depthMax, tokensMax)
  if (fault === 'depth') return { kind: 'fault', reason: `nesting is deeper than ${depthMax} levels` }
  if (fault === 'tokens') {
    return { kind: 'fault', reason: `it has more than ${tokensMax} brackets, commas and colons` }
  }
  await othersTurn(bytes)
  const { buffer, byteOffset, byteLength } = bytes
  const text = Buffer.from(buffer, byteOffset, byteLength).toString()
  await othersTurn(bytes)
  return { kind: 'text', text }
}

/** Lets others go on between two looks at a large body; of a small one both take no time. */
export async function othersTurn(bytes: Bytes): Promise<void> {
  if (bytes.length > inOneTurnBytesMax) await setImmediate()
}
