// The distinct_id of an event as the text it is stored as: strings as they are, numbers and booleans as their JSON
// text, arrays and objects as compact JSON with sorted keys; at most 200 characters (code points) of it.

import { isSameBytes } from '../lib/bytes.ts'
import { appendId } from './event-facts.ts'
import { Field, Property } from './event-keys.ts'
import { hasValue } from './event-values.ts'
import { openBrace, openBracket, quote } from './json-bytes.ts'
import { nextMember, openMembers } from './members.ts'
import { placeOf, type Stretches } from './properties-edit.ts'
import type { Scan } from './scan.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'
import { appendUnescaped, unescapeText } from './unescape.ts'

const charsMax = 200

/** A container as distinct_id is somebody's mistake; a longer one is not worth the sorting. */
const containerBytesMax = 64 * 1024

/** Appends the distinct_id of an event to `target`. Returns false, with nothing appended, when it has none. */
export function writeDistinctId(scan: Scan, spans: EventSpans, target: TextArena): boolean {
  const at = target.size
  if (!appendId(spans, target) && !appendValue(scan, spans, target)) return false
  if (isBlank(target.bytes, at, target.size)) {
    target.size = at
    return false
  }
  if (target.size - at > charsMax) target.size = endOfChars(target.bytes, at, target.size)
  return true
}

/** Appends the value of the distinct_id as it is stored, but for its length. Returns false when there is none. */
function appendValue(scan: Scan, spans: EventSpans, target: TextArena): boolean {
  const key = distinctIdKey(scan, spans)
  const start = spans.starts[key]!
  if (start === 0) return false
  const end = spans.ends[key]!
  const first = scan.bytes[start]!
  if (first === openBrace || first === openBracket) {
    if (end - start > containerBytesMax) return false
    const text = Buffer.from(canonicalText(scan, start))
    target.reserve(text.length)
    target.append(text, 0, text.length)
  } else if (first === quote) {
    appendUnescaped(scan, start + 1, end - 1, target)
  } else {
    target.reserve(end - start)
    target.append(scan.bytes, start, end)
  }
  return true
}

/** The key whose value is the distinct_id; its start is 0 when there is none. */
export function distinctIdKey(scan: Scan, spans: EventSpans): number {
  if (hasValue(scan, spans, Field.distinct_id)) return Field.distinct_id
  if (hasValue(scan, spans, Field.$distinct_id)) return Field.$distinct_id
  return hasValue(scan, spans, Property.distinct_id) ? Property.distinct_id : absentKey
}

/**
 * How far before the end of its properties, which were just written, the distinct_id of an event stands in them: most
 * SDKs send it there. 0 where it does not, byte for byte.
 */
export function idDistance(
  scan: Scan,
  spans: EventSpans,
  id: TextArena,
  stretches: Stretches,
  properties: TextArena,
): number {
  const start = spans.starts[Property.distinct_id]!
  const length = id.size - id.valueStart
  // With its quotes the value is two bytes longer.
  if (start === 0 || spans.ends[Property.distinct_id]! - start !== length + 2) return 0
  const place = placeOf(stretches, start) + 1
  // An id that was taken from there is the same when it is as long: every escape is longer than what it stands for.
  const isSame =
    (distinctIdKey(scan, spans) === Property.distinct_id && scan.bytes[start] === quote) ||
    isSameBytes(properties.bytes, place, id.bytes, id.valueStart, length)
  return isSame ? properties.size - place : 0
}

/** A key that no record holds: events have no batch. */
const absentKey = Field.batch

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte >= 0x80) return Buffer.from(bytes.subarray(start, end)).toString('utf8').trim() === ''
    if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return false
  }
  return true
}

function endOfChars(bytes: Uint8Array, start: number, end: number): number {
  let chars = 0
  for (let at = start; at < end; at++) {
    // Every byte that does not continue a character begins one.
    if ((bytes[at]! & 0xc0) !== 0x80 && ++chars > charsMax) return at
  }
  return end
}

/** Compact JSON of the value at `at`, keys sorted by code point. Recursion is as deep as an event may be. */
function canonicalText(scan: Scan, at: number): string {
  const first = scan.bytes[at]!
  const members = openMembers(scan, at)
  if (first === openBracket) {
    const values: string[] = []
    while (nextMember(scan, members)) values.push(canonicalMember(scan, members.start, members.end))
    return `[${values.join(',')}]`
  }
  const byKey = new Map<string, string>()
  while (nextMember(scan, members)) {
    const key = unescapeText(scan.bytes, members.keyStart, members.keyEnd)
    byKey.set(key, canonicalMember(scan, members.start, members.end))
  }
  const sorted = [...byKey].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}

function canonicalMember(scan: Scan, start: number, end: number): string {
  const first = scan.bytes[start]!
  if (first === openBrace || first === openBracket) return canonicalText(scan, start)
  if (first === quote) return JSON.stringify(unescapeText(scan.bytes, start + 1, end - 1))
  return unescapeText(scan.bytes, start, end)
}
