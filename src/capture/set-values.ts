// What an event says of its person: `$set`, `$set_once` and `$unset` stand in properties, at the top level of the
// event, or both. Both are merged one level deep, the top level prevailing.

import { Field, Property, setFields, setProperties } from './event-keys.ts'
import { closeBrace, closeBracket, comma, letterN, openBrace, openBracket } from './json-bytes.ts'
import { createKeySet, shareKeys } from './key-set.ts'
import { nextMember, openMembers } from './members.ts'
import { mergeObjects } from './merge-objects.ts'
import type { Scan } from './scan.ts'
import type { EventSpans } from './span-tape.ts'
import { TextArena } from './text-arena.ts'

/** The text of one of the three. */
export interface SetValue {
  /** The key in properties. */
  readonly key: number
  /** The key at the top level. */
  readonly field: number
  bytes: Uint8Array
  start: number
  /** Equal to `start` when the event has none that can be used. */
  end: number
  /** It is not what properties hold, and must be put there. */
  isMerged: boolean
}

export interface SetValues {
  readonly set: SetValue
  readonly setOnce: SetValue
  readonly unset: SetValue
  /** The event has none of the keys, as most have not. */
  areAbsent: boolean
  /** One of the three is merged. */
  areMerged: boolean
  /** Merged texts. */
  readonly arena: TextArena
}

const nothing = new Uint8Array(0)

/** Where the three stand. */
const setKeys = createKeySet([...setFields, ...setProperties])

export function createSetValues(): SetValues {
  return {
    set: createSetValue(Property.$set, Field.$set),
    setOnce: createSetValue(Property.$set_once, Field.$set_once),
    unset: createSetValue(Property.$unset, Field.$unset),
    areAbsent: false,
    areMerged: false,
    arena: new TextArena(4096),
  }
}

function createSetValue(key: number, field: number): SetValue {
  return { key, field, bytes: nothing, start: 0, end: 0, isMerged: false }
}

/** Settles the three values of one event, until the next call. */
export function settleSetValues(scan: Scan, spans: EventSpans, values: SetValues): void {
  const areAbsent = !shareKeys(spans.met, setKeys)
  if (areAbsent && values.areAbsent) return
  values.areAbsent = areAbsent
  values.arena.clear(0)
  settle(scan, spans, values.set, values.arena)
  settle(scan, spans, values.setOnce, values.arena)
  settle(scan, spans, values.unset, values.arena)
  values.areMerged = values.set.isMerged || values.setOnce.isMerged || values.unset.isMerged
}

/** True when an event's top-level `$set` or `$set_once` is what it may be: an object, null, or PHP's `[]` for `{}`. */
export function isSetAllowed(scan: Scan, spans: EventSpans, field: number): boolean {
  const start = spans.starts[field]!
  if (start === 0 || scan.bytes[start] === openBrace || scan.bytes[start] === letterN) return true
  if (scan.bytes[start] !== openBracket || openMembers(scan, start).next >= 0) return false
  // The same number of bytes, and from here on an ordinary object.
  scan.bytes[start] = openBrace
  scan.bytes[spans.ends[field]! - 1] = closeBrace
  return true
}

/** True when `$set` or `$set_once` in properties is something that cannot be taken for an object. */
export function isSetMalformed(scan: Scan, spans: EventSpans): boolean {
  return (
    isMalformed(scan, spans.starts[Property.$set]!) || isMalformed(scan, spans.starts[Property.$set_once]!)
  )
}

function isMalformed(scan: Scan, start: number): boolean {
  if (start === 0) return false
  const first = scan.bytes[start]
  if (first === openBracket) return openMembers(scan, start).next >= 0
  return first !== openBrace && first !== letterN
}

function settle(scan: Scan, spans: EventSpans, value: SetValue, arena: TextArena): void {
  const isUnset = value.key === Property.$unset
  const own = usableStart(scan, spans.starts[value.key]!, isUnset)
  const top = usableStart(scan, spans.starts[value.field]!, isUnset)
  value.isMerged = top > 0
  value.bytes = scan.bytes
  value.start = own
  value.end = own === 0 ? 0 : spans.ends[value.key]!
  if (top === 0) return
  if (own === 0 || scan.bytes[own] !== scan.bytes[top]) {
    value.start = top
    value.end = spans.ends[value.field]!
    return
  }
  const start = arena.size
  if (scan.bytes[top] === openBrace) mergeObjects(scan, [own, top], arena)
  else uniteLists(scan, [own, top], arena)
  value.bytes = arena.bytes
  value.start = start
  value.end = arena.size
}

/** `start`, or 0 when there is no object (or, where lists are allowed, no list). */
function usableStart(scan: Scan, start: number, allowsList: boolean): number {
  if (start === 0) return 0
  const first = scan.bytes[start]
  return first === openBrace || (allowsList && first === openBracket) ? start : 0
}

/** Appends one list with the members of all; posthog-js sends the same names twice, which does no harm. */
function uniteLists(scan: Scan, places: readonly number[], target: TextArena): void {
  const start = target.size
  target.reserve(2)
  target.put(openBracket)
  for (const place of places) {
    const member = openMembers(scan, place)
    while (nextMember(scan, member)) {
      target.reserve(member.end - member.start + 2)
      if (target.size > start + 1) target.put(comma)
      target.append(scan.bytes, member.start, member.end)
    }
  }
  target.put(closeBracket)
}
