// The person column of an event: a JSON object with what the persons consumer needs and nothing else. Its header in
// event-batch.ts says what it may hold.

import { keyTexts, mappedFirst, Property } from './event-keys.ts'
import { EventName } from './event-names.ts'
import { closeBrace, colon, comma, letterN, openBrace, quote } from './json-bytes.ts'
import type { PlaceText } from './place-text.ts'
import { insertEntry } from './properties-edit.ts'
import type { Scan } from './scan.ts'
import type { SetValue, SetValues } from './set-values.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'

/** Appends the column of an event that is not anonymous; nothing when there is nothing to say. */
export function writePerson(
  scan: Scan,
  spans: EventSpans,
  values: SetValues,
  name: number,
  place: PlaceText | null,
  target: TextArena,
): void {
  const start = target.size
  const isGroupChange = name === EventName.$groupidentify
  const mapsProperties = !isGroupChange && name !== EventName.$snapshot
  let count = 0
  target.reserve(2)
  target.put(openBrace)
  if (!isGroupChange) {
    count = insertSet(values.set, count, target)
    count = insertSet(values.setOnce, count, target)
    count = insertSet(values.unset, count, target)
  }
  // Entries that stand together in the text, as those of an SDK do, are copied together.
  let runStart = 0
  let runEnd = 0
  for (let index = 0; index < spans.entryCount; index++) {
    const key = spans.entryKeys[index]!
    if (key >= mappedFirst ? !mapsProperties : !belongs(scan, spans, key, name)) continue
    const entry = entryStart(scan, spans, key)
    if (entry === 0) count = insertEntry(target, count, key, scan.bytes, spans.starts[key]!, spans.ends[key]!)
    else if (entry === runEnd + 1) runEnd = spans.ends[key]!
    else {
      count = insertRun(target, count, scan.bytes, runStart, runEnd)
      runStart = entry
      runEnd = spans.ends[key]!
    }
  }
  count = insertRun(target, count, scan.bytes, runStart, runEnd)
  if (place !== null && mapsProperties) count = insertRun(target, count, place.person, 0, place.person.length)
  if (count === 0) target.size = start
  else {
    target.reserve(1)
    target.put(closeBrace)
  }
}

function insertSet(value: SetValue, count: number, target: TextArena): number {
  if (value.start === value.end) return count
  return insertEntry(target, count, value.key, value.bytes, value.start, value.end)
}

/** Where the entry of `key` starts, when it is printed plainly: no escapes in the key, no white space. Else 0. */
function entryStart(scan: Scan, spans: EventSpans, key: number): number {
  const start = spans.starts[key]! - keyTexts[key]!.length
  // No known key holds a quote, so a quote at this distance is the one that opens the key.
  const isPlain = start > spans.befores[key]! - 1 && scan.bytes[start] === quote
  return isPlain && scan.bytes[spans.starts[key]! - 1] === colon ? start : 0
}

/** Appends the entries at [start, end) behind `count` others; there are none when both are 0. */
function insertRun(target: TextArena, count: number, bytes: Uint8Array, start: number, end: number): number {
  if (end === 0) return count
  target.reserve(end - start + 1)
  if (count > 0) target.put(comma)
  target.append(bytes, start, end)
  return count + 1
}

/** Whether a property that is not mapped tells of persons or groups in an event of this name. */
function belongs(scan: Scan, spans: EventSpans, key: number, name: number): boolean {
  switch (key) {
    case Property.$groups:
      return scan.bytes[spans.starts[key]!] === openBrace
    case Property.$anon_distinct_id:
      return name === EventName.$identify && scan.bytes[spans.starts[key]!] !== letterN
    case Property.alias:
      return name === EventName.$create_alias || name === EventName.$merge_dangerously
    case Property.$group_type:
    case Property.$group_key:
    case Property.$group_set:
      return name === EventName.$groupidentify
    default:
      return false
  }
}
