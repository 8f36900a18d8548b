// Scans events: proves their JSON and notes on a tape where the values of known keys are. Repeated keys are noticed
// here, not resolved: senders do not repeat keys, so the one who does pays for it.

import { Field, fieldIndex } from './event-keys.ts'
import { closeBrace, comma, openBrace, quote } from './json-bytes.ts'
import {
  followHead,
  type KeyHeads,
  learnHead,
  meetName,
  noHead,
  openHeads,
  passGuessed,
  strangeHead,
} from './key-heads.ts'
import { findEscapedKey, findKey, sampleKey } from './key-index.ts'
import { isCut, passEventRun, passRun } from './known-run.ts'
import { fail, type Scan, skipColon, skipSpace, skipString, skipValue } from './scan.ts'
import {
  addSpan,
  beginRecord,
  dropProperties,
  EventMark,
  endRecord,
  hasSpan,
  mark,
  meetKey,
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

/**
 * Scans events of an array from `at` on, where one begins, as far as they are like earlier ones and the tape has room
 * for one more, and keeps their records. Returns how many; `nextEvent` says where the next begins, or the array ends.
 */
export function scanAlike(scan: Scan, tape: SpanTape, at: number): number {
  const { fieldHeads, propertyHeads, run } = tape
  if (run.passes === null || fieldHeads.isFull || propertyHeads.isFull) return 0
  const { left } = run
  let count = 0
  let place = at
  do {
    const passed = passEventRun(run, run.passes, scan, place, (tape.generation + 1) | 0, tape.used)
    tape.generation = left[6]!
    if (passed === 0) break
    count += passed
    place = left[1]!
    tape.used = left[2]!
    tape.top = tape.used
    tape.propertyCount = left[3]!
    scan.deepest = 0
    notePassed(scan, left)
  } while (isCut(run, scan, place))
  return count
}

/** Where the event begins that follows those of `scanAlike`, or the array ends. */
export function nextEvent({ run }: SpanTape): number {
  return run.left[1]!
}

/** Notes what the scan is told of a text that was passed in a run. */
function notePassed(scan: Scan, left: Int32Array): void {
  if (left[5]! > scan.deepest) scan.deepest = left[5]!
  if (left[4]! < 0) return
  scan.lastEscape = left[4]!
  scan.hasEscapes = true
}

/** Scans the event object at `at`. */
function scanFields(scan: Scan, tape: SpanTape, at: number): number {
  const { fieldHeads: heads } = tape
  openHeads(heads)
  let before = at + 1
  let place = at
  for (let head = noHead; ; ) {
    head = nextHead(scan, heads, head, place)
    if (head === noHead) return heads.place
    const field = heads.key
    const start = heads.place
    if (field === Field.properties && hasSpan(tape, field)) dropProperties(tape)
    if (field === Field.properties && scan.bytes[start] === openBrace)
      place = scanProperties(scan, tape, start)
    else place = skipField(scan, field, start)
    // A batch means something around events only; in one of them it is a field that nobody knows.
    if (field === Field.batch) meetKey(tape, field)
    else if (field >= 0) addSpan(tape, field, before, start, place)
    before = place
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

/** Scans the properties object at `at`: most members in runs, and here the one that ends a run. */
function scanProperties(scan: Scan, tape: SpanTape, at: number): number {
  const { propertyHeads: heads, generation, run } = tape
  const { passes, left } = run
  const { bytes } = scan
  openHeads(heads)
  if (scan.deepest < 2) scan.deepest = 2
  let count = 0
  let place = at
  let head = noHead
  for (; ; count++) {
    let next = noHead
    if (passes !== null) {
      next = passRun(run, passes, scan, head, place, generation, tape.top)
      notePassed(scan, left)
      head = left[0]!
      place = left[1]!
      count += left[2]!
      tape.top = left[3]!
    }
    if (next === noHead) next = nextHead(scan, heads, head, place)
    else passGuessed(heads, next, place)
    if (next === noHead) break
    const before = head === noHead ? place + 1 : place
    head = next
    const property = heads.key
    const start = heads.place
    place = bytes[start] === quote ? skipString(scan, start + 1) + 1 : skipValue(scan, start, 3)
    if (property >= 0) addSpan(tape, property, before, start, place)
    else if (!meetName(heads, head, generation)) mark(tape, EventMark.mayRepeat)
  }
  tape.propertyCount = count
  return heads.place
}

/**
 * Passes what is between the value that ends at `at`, or the brace there, and the next value of the object. `before` is
 * the head of the value before. Returns the head passed, or noHead at the end of the object; more is in `heads`.
 */
function nextHead(scan: Scan, heads: KeyHeads, before: number, at: number): number {
  const head = followHead(scan, heads, before, at)
  return head === noHead ? passHead(scan, heads, before, at) : head
}

/** The same for a head that could not be guessed. */
function passHead(scan: Scan, heads: KeyHeads, before: number, at: number): number {
  const { bytes } = scan
  let place = skipSpace(scan, before === noHead ? at + 1 : at)
  if (bytes[place] === closeBrace) {
    heads.place = place + 1
    return noHead
  }
  if (before !== noHead) {
    if (bytes[place] !== comma) fail(scan, place, 'a comma or the end')
    place = skipSpace(scan, place + 1)
  }
  if (bytes[place] !== quote) fail(scan, place, 'a key')
  const nameStart = place + 1
  const nameEnd = skipString(scan, nameStart)
  const end = skipColon(scan, nameEnd + 1)
  if (scan.lastEscape < nameStart) return learnHead(scan, heads, before, at, nameStart, nameEnd, end)
  heads.place = end
  heads.key = findEscapedKey(heads.known, bytes, nameStart, nameEnd)
  return strangeHead
}
