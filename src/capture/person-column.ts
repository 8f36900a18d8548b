// The person column of an event: what of its properties the persons consumer needs and nothing else. Its header in
// event-batch.ts says what that may be, person-pieces.ts how it is written.

import { Field, keyTexts, mappedFirst, Property } from './event-keys.ts'
import { EventName } from './event-names.ts'
import { letterN, openBrace } from './json-bytes.ts'
import { countsAll, digestOf, hasDigest, PersonDigest } from './person-digest.ts'
import { PieceWriter } from './person-pieces.ts'
import type { PropertiesColumn } from './properties-column.ts'
import { placeOf } from './properties-edit.ts'
import { entrySize } from './run-layout.ts'
import type { Scan } from './scan.ts'
import type { SetValue, SetValues } from './set-values.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'

const pieces = new PieceWriter()
const digest = new PersonDigest()
const keySizes = Int32Array.from(keyTexts, (text) => text.length)
const nothing = new Uint8Array(0)

/**
 * Appends the column of an event that is not anonymous; nothing when there is nothing to say. Its properties are those
 * that `column` has just written to `properties`. Returns the digest of what it says (person-digest.ts), or 0.
 */
export function writePerson(
  scan: Scan,
  spans: EventSpans,
  values: SetValues,
  name: number,
  column: PropertiesColumn,
  properties: TextArena,
  target: TextArena,
): number {
  const isGroupChange = name === EventName.$groupidentify
  const mapsProperties = !isGroupChange && name !== EventName.$snapshot
  const columnStart = target.size
  pieces.begin(target)
  if (spans.runCount >= 0 && mapsProperties && !countsAll(name) && column.place === null) {
    pieces.addRuns(spans, column.stretches, properties.valueStart)
    pieces.end()
    if (spans.runCount === 0 || !hasDigest(name)) return 0
    return digestOf(spans.digestLow, spans.digestHigh, spans.isQuiet)
  }
  digest.begin(countsAll(name))
  const { cells } = spans
  for (let cell = spans.entriesAt; cell < spans.entriesEnd; cell += entrySize) {
    const key = cells[cell]!
    if (key < Property.$set) continue
    const isWanted = key >= mappedFirst ? mapsProperties : belongs(scan, spans, values, key, name)
    if (!isWanted) continue
    const from = cells[cell + 2]!
    const start = placeOf(column.stretches, from)
    const end = start + cells[cell + 3]! - from
    if (isPlain(spans, key, cells[cell + 1]!, from)) addPlainMember(properties, key, start, end)
    else pieces.addText(keyTexts[key]!, properties.bytes, start, end)
    digest.add(key, properties.view, start, end)
  }
  if (!isGroupChange) {
    addMerged(values.set, column, properties)
    addMerged(values.setOnce, column, properties)
    addMerged(values.unset, column, properties)
  }
  const { place, placeStart } = column
  if (place !== null && mapsProperties) {
    const start = placeStart - properties.valueStart
    pieces.addPlace(start, start + place.properties.length)
    if (place.unknown.length > 0) pieces.addText(nothing, place.unknown, 0, place.unknown.length)
    digest.addAll(place.digested)
  }
  pieces.end()
  const saysNothing = target.size === columnStart && !countsAll(name)
  return saysNothing || !hasDigest(name) ? 0 : digest.end()
}

function addMerged(value: SetValue, { places }: PropertiesColumn, properties: TextArena): void {
  if (!value.isMerged) return
  const start = places[value.key]!
  const end = start + value.end - value.start
  addPlainMember(properties, value.key, start, end)
  digest.add(value.key, properties.view, start, end)
}

/** Adds the member with its value at [start, end) of `properties`, right behind its key. */
function addPlainMember({ valueStart }: TextArena, key: number, start: number, end: number): void {
  pieces.addPlace(start - keySizes[key]! - valueStart, end - valueStart)
}

/** Whether a property was sent with no escapes in its key and no white space around: no spelling is shorter. */
function isPlain({ starts }: EventSpans, key: number, before: number, start: number): boolean {
  const commaSize = before === starts[Field.properties]! + 1 ? 0 : 1
  return start - before === keySizes[key]! + commaSize
}

/** Whether a property that is not mapped, as it was sent, tells of persons or groups in an event of this name. */
function belongs(scan: Scan, spans: EventSpans, values: SetValues, key: number, name: number): boolean {
  switch (key) {
    case Property.$set:
      return name !== EventName.$groupidentify && isOwn(values.set)
    case Property.$set_once:
      return name !== EventName.$groupidentify && isOwn(values.setOnce)
    case Property.$unset:
      return name !== EventName.$groupidentify && isOwn(values.unset)
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

/** Whether what can be used of a value is what stands in the properties. */
function isOwn(value: SetValue): boolean {
  return !value.isMerged && value.end > value.start
}
