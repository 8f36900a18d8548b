// Questions about the value of a known key in an event under the scanner. A value's first byte tells its kind.

import { letterF, letterN, letterT, openBrace, openBracket, quote } from './json-bytes.ts'
import type { Scan } from './scan.ts'
import type { EventSpans } from './span-tape.ts'
import { unescapeText } from './unescape.ts'

/** A longer name or distinct_id is not shown with a drop. */
const sampleBytesMax = 4096

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

/** A value as it may be shown with a drop: only strings and numbers, and none of great length. */
export function sampleText(scan: Scan, spans: EventSpans, key: number): string {
  const start = spans.starts[key]!
  const end = spans.ends[key]!
  if (start === 0 || end - start > sampleBytesMax) return ''
  if (scan.bytes[start] === quote) return unescapeText(scan.bytes, start + 1, end - 1)
  return isObject(scan, spans, key) || scan.bytes[start] === openBracket
    ? ''
    : unescapeText(scan.bytes, start, end)
}

function startsWith(scan: Scan, spans: EventSpans, key: number, first: number): boolean {
  const start = spans.starts[key]!
  return start > 0 && scan.bytes[start] === first
}
