// Questions about the value of a known key in an event under the scanner. A value's first byte tells its kind.

import { letterF, letterN, letterT, openBrace, quote } from './json-bytes.ts'
import type { Scan } from './scan.ts'
import type { EventSpans } from './span-tape.ts'

/** The key is there and not null. */
export function hasValue(scan: Scan, spans: EventSpans, key: number): boolean {
  const start = spans.starts[key]!
  return start > 0 && scan.bytes[start] !== letterN
}

export function isString(scan: Scan, spans: EventSpans, key: number): boolean {
  return startsWith(scan, spans, key, quote)
}

export function isObject(scan: Scan, spans: EventSpans, key: number): boolean {
  return startsWith(scan, spans, key, openBrace)
}

export function isTrue(scan: Scan, spans: EventSpans, key: number): boolean {
  return startsWith(scan, spans, key, letterT)
}

export function isFalse(scan: Scan, spans: EventSpans, key: number): boolean {
  return startsWith(scan, spans, key, letterF)
}

function startsWith(scan: Scan, spans: EventSpans, key: number, first: number): boolean {
  const start = spans.starts[key]!
  return start > 0 && scan.bytes[start] === first
}
