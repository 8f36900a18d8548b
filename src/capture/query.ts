// The few query parameters that capture knows. Everything else (ver, ip, retry_count, …) is ignored, and so is
// a value that cannot be read: an SDK never meant to lose its events over a query parameter.

import type { Bytes } from '../lib/bytes.ts'
import { decodeFormData } from './form.ts'

export type Compression = 'gzip' | 'lz64' | 'base64'

export interface CaptureQuery {
  /** Payload of `?data=`, decoded; null when absent or empty. */
  readonly data: Bytes | null
  /** `?compression=`; null when absent or unknown. */
  readonly compression: Compression | null
  /** `?_=` or `?sent_at=`, epoch ms. */
  readonly sentAtMs: number | null
  /** `?beacon=1`: the sender expects 204. */
  readonly beacon: boolean
}

const noQuery: CaptureQuery = { data: null, compression: null, sentAtMs: null, beacon: false }

const compressions: Readonly<Record<string, Compression>> = {
  __proto__: null as never, // makes `constructor` and its like unknown names; no value is ever read from it
  gzip: 'gzip',
  'gzip-js': 'gzip',
  lz64: 'lz64',
  'lz-string': 'lz64',
  base64: 'base64',
  b64: 'base64',
}

/** A sent_at must lie in 2021 or later: seconds taken for milliseconds land in 1970. */
const sentAtMsMin = Date.UTC(2021, 0, 1)
const sentAtMsMax = Date.UTC(9999, 11, 31)

/** The compression that a `compression` parameter or a Content-Encoding header names, or null. */
export function parseCompression(name: string): Compression | null {
  return name === '' ? null : (compressions[name.trim().toLowerCase()] ?? null)
}

/** Reads the raw query (without its `?`). Of a repeated parameter the first that can be read counts. */
export function parseQuery(query: string): CaptureQuery {
  if (query === '') return noQuery
  let data: Bytes | null = null
  let compression: Compression | null = null
  let sentAtMs: number | null = null
  let beacon = false
  for (const pair of query.split('&')) {
    const separator = pair.indexOf('=')
    const value = separator < 0 ? '' : pair.slice(separator + 1)
    if (value === '') continue
    switch (pair.slice(0, separator)) {
      case 'data':
        data ??= decodeFormData(new Uint8Array(Buffer.from(value)))
        break
      case 'compression':
        compression ??= parseCompression(value)
        break
      case '_':
      case 'sent_at':
        sentAtMs ??= parseSentAtMs(value)
        break
      case 'beacon':
        beacon ||= value === '1'
        break
    }
  }
  return { data, compression, sentAtMs, beacon }
}

function parseSentAtMs(value: string): number | null {
  if (!/^\d{1,15}$/.test(value)) return null
  const sentAtMs = Number(value)
  return sentAtMs >= sentAtMsMin && sentAtMs <= sentAtMsMax ? sentAtMs : null
}
