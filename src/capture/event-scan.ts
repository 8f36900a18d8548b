// Scans events: proves their JSON and notes on a tape where the values of known keys are. Repeated keys are noticed
// here, not resolved: senders do not repeat keys, so the one who does pays for it.

import { Field, fieldIndex, propertyIndex } from './event-keys.ts'
import { closeBrace, comma, openBrace, quote } from './json-bytes.ts'
import { findEscapedKey, findKey, sampleKey } from './key-index.ts'
import { extendLayout, followLayout } from './key-layout.ts'
import { addKey, clearKeys } from './plain-keys.ts'
import { fail, type Scan, skipColon, skipSpace, skipString, skipValue } from './scan.ts'
import {
  addSpan,
  beginRecord,
  dropProperties,
  EventMark,
  endRecord,
  hasMark,
  hasSpan,
  mark,
  type SpanTape,
} from './span-tape.ts'

/** An event nested deeper is dropped: it would be a danger to whoever parses it later (serde_json's limit). */
export const eventDepthMax = 128

/** Scans the value at `at` as an event. Its record is completed, not yet kept. Returns its end. */
export function scanEvent(scan: Scan, tape: SpanTape, at: number): number {
  scan.deepest = 0
  beginRecord(tape, at)
  const isObject = scan.bytes[at] === openBrace
  if (!isObject) mark(tape, EventMark.notAnObject)
  const end = isObject ? scanFields(scan, tape, at) : skipValue(scan, at, 1)
  if (scan.deepest > eventDepthMax) mark(tape, EventMark.tooDeep)
  endRecord(tape, end)
  return end
}

/** Scans the event object at `at`. */
function scanFields(scan: Scan, tape: SpanTape, at: number): number {
  const { bytes } = scan
  let before = at + 1
  let place = skipSpace(scan, at + 1)
  if (bytes[place] === closeBrace) return place + 1
  for (;;) {
    if (bytes[place] !== quote) fail(scan, place, 'a key')
    const keyStart = place + 1
    const keyEnd = skipString(scan, keyStart)
    const field = findField(scan, keyStart, keyEnd)
    const start = skipColon(scan, keyEnd + 1)
    if (field === Field.properties && hasSpan(tape, field)) dropProperties(tape)
    if (field === Field.properties && bytes[start] === openBrace) place = scanProperties(scan, tape, start)
    else place = skipField(scan, field, start)
    // A batch means something around events only; in one of them it is a field that nobody knows.
    if (field >= 0 && field !== Field.batch) addSpan(tape, field, before, start, place)
    before = place
    place = skipSpace(scan, place)
    if (bytes[place] === closeBrace) return place + 1
    if (bytes[place] !== comma) fail(scan, place, 'a comma or the end')
    place = skipSpace(scan, place + 1)
  }
}

/** Returns the end of a field's value. Keys stay as they came, so that one with a NUL can be refused for it. */
export function skipField(scan: Scan, field: number, start: number): number {
  if (field !== Field.api_key && field !== Field.token && field !== Field.$token)
    return skipValue(scan, start, 2)
  const { repairs } = scan
  scan.repairs = false
  const end = skipValue(scan, start, 2)
  scan.repairs = repairs
  return end
}

/** The number of the field whose key is at [start, end), or -1. */
export function findField(scan: Scan, start: number, end: number): number {
  if (scan.lastEscape >= start) return findEscapedKey(fieldIndex, scan.bytes, start, end)
  return findKey(fieldIndex, scan.bytes, start, end, sampleKey(scan.bytes, start, end))
}

/** Scans the properties object at `at`. */
function scanProperties(scan: Scan, tape: SpanTape, at: number): number {
  const { bytes } = scan
  const { layout } = tape
  if (scan.deepest < 2) scan.deepest = 2
  let follows = true
  let count = 0
  let before = at + 1
  let place = skipSpace(scan, at + 1)
  while (bytes[place] !== closeBrace || count > 0) {
    let keyEnd = follows ? followLayout(scan, layout, count, place) : 0
    let property: number
    if (keyEnd > 0) property = layout.keys[count]!
    else {
      if (follows) leaveLayout(tape, bytes, count)
      follows = false
      if (bytes[place] !== quote) fail(scan, place, 'a key')
      keyEnd = skipString(scan, place + 1) + 1
      property = findProperty(scan, tape, place, keyEnd, count)
    }
    const start = skipColon(scan, keyEnd)
    place = skipValue(scan, start, 3)
    if (property >= 0) addSpan(tape, property, before, start, place)
    count++
    before = place
    place = skipSpace(scan, place)
    if (bytes[place] === closeBrace) break
    if (bytes[place] !== comma) fail(scan, place, 'a comma or the end')
    place = skipSpace(scan, place + 1)
  }
  tape.propertyCount = count
  if (hasMark(tape, EventMark.mayRepeat)) layout.count = 0
  return place + 1
}

/** The properties from number `count` on are not those of the event before: looks at the ones so far again. */
function leaveLayout(tape: SpanTape, bytes: Uint8Array, count: number): void {
  const { layout, plainKeys } = tape
  layout.count = count
  clearKeys(plainKeys)
  for (let index = 0; index < count; index++) {
    if (layout.keys[index]! >= 0) continue
    const start = layout.starts[index]! + 1
    const end = layout.ends[index]! - 1
    if (!addKey(plainKeys, bytes, start, end, sampleKey(bytes, start, end))) mark(tape, EventMark.mayRepeat)
  }
}

/** The number of property `index`, whose name is at [start, end), quotes included; -1 when it is not known. */
function findProperty(scan: Scan, tape: SpanTape, start: number, end: number, index: number): number {
  const { bytes } = scan
  if (scan.lastEscape > start) {
    const property = findEscapedKey(propertyIndex, bytes, start + 1, end - 1)
    if (property < 0) mark(tape, EventMark.mayRepeat)
    return property
  }
  const sample = sampleKey(bytes, start + 1, end - 1)
  const property = findKey(propertyIndex, bytes, start + 1, end - 1, sample)
  if (property < 0 && !addKey(tape.plainKeys, bytes, start + 1, end - 1, sample)) {
    mark(tape, EventMark.mayRepeat)
  }
  extendLayout(tape.layout, index, start, end, property)
  return property
}
