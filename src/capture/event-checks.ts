// The schema of an event: what its fields must be, whatever they say.

import type { DropReason } from './capture-task.ts'
import { Field, Property, setFields } from './event-keys.ts'
import { hasValue, isString } from './event-values.ts'
import { letterF, letterN, letterT, openBrace } from './json-bytes.ts'
import { createKeySet, shareKeys } from './key-set.ts'
import { textsFact, timeFact, uuidFact } from './run-layout.ts'
import type { Scan } from './scan.ts'
import { isSetAllowed } from './set-values.ts'
import { EventMark, type EventSpans } from './span-tape.ts'

/** A longer number is none that somebody meant. */
const offsetBytesMax = 32

/** What becomes an event's stored properties. Together: the journal takes no record beyond 64 MiB. */
const storedFields = [Field.properties, ...setFields]

/** Of most events that have none of these, less is to be looked at. */
const seldomKeys = createKeySet([...setFields, Field.offset, Property.$cookieless_mode])

/** Checks an event. Returns why it must be dropped, or null. Its uuid is left to whoever parses it. */
export function checkEvent(
  scan: Scan,
  spans: EventSpans,
  eventBytesMax: number,
  isEngage: boolean,
): DropReason | null {
  const { bytes } = scan
  const { starts, ends, marks, facts } = spans
  if (marks & EventMark.notAnObject) return 'event_not_an_object'
  if (marks & EventMark.tooDeep) return 'event_too_deep'
  if ((facts & textsFact) === 0) {
    if (!isStringOrNull(scan, spans, Field.event)) return 'event_name_invalid'
    if (!hasValue(scan, spans, Field.event) && !isEngage) return 'event_name_missing'
  }
  const properties = starts[Field.properties]!
  if (properties > 0 && bytes[properties] !== openBrace) return 'properties_invalid'
  const hasSeldom = shareKeys(spans.met, seldomKeys)
  const storedBytes = hasSeldom
    ? storedSize(spans)
    : properties > 0
      ? ends[Field.properties]! - properties
      : 0
  if (storedBytes > eventBytesMax) return 'event_too_big'
  if (hasSeldom && !areSetsAllowed(scan, spans)) return 'set_invalid'
  if ((facts & uuidFact) === 0 && !isStringOrNull(scan, spans, Field.uuid)) return 'uuid_invalid'
  if ((facts & timeFact) === 0 && !isStringOrNull(scan, spans, Field.timestamp)) return 'timestamp_invalid'
  if (!hasSeldom) return null
  if (Number.isNaN(offsetMs(scan, spans))) return 'offset_invalid'
  const cookieless = starts[Property.$cookieless_mode]!
  if (cookieless > 0 && bytes[cookieless] !== letterT && bytes[cookieless] !== letterF) {
    return 'cookieless_mode_invalid'
  }
  return null
}

/** The event's `offset`: a whole number of milliseconds, null when absent, NaN when it is anything else. */
export function offsetMs(scan: Scan, spans: EventSpans): number | null {
  const start = spans.starts[Field.offset]!
  if (start === 0 || scan.bytes[start] === letterN) return null
  const end = spans.ends[Field.offset]!
  if (end - start > offsetBytesMax) return Number.NaN
  // White space, which Number would take for 0, cannot stand here; a quote or bracket makes it NaN.
  const value = Number(Buffer.from(scan.bytes.subarray(start, end)).toString('latin1'))
  return Number.isSafeInteger(value) ? value : Number.NaN
}

/** Bytes of what becomes stored properties. */
function storedSize({ starts, ends }: EventSpans): number {
  let size = 0
  for (const field of storedFields) if (starts[field]! > 0) size += ends[field]! - starts[field]!
  return size
}

function areSetsAllowed(scan: Scan, spans: EventSpans): boolean {
  return isSetAllowed(scan, spans, Field.$set) && isSetAllowed(scan, spans, Field.$set_once)
}

function isStringOrNull(scan: Scan, spans: EventSpans, key: number): boolean {
  return !hasValue(scan, spans, key) || isString(scan, spans, key)
}
