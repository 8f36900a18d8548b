// Scans arrays of events onto the tape, and says whether they agree on a project API key.

import { isServiceError } from '../errors.ts'
import { isSameBytes } from '../lib/bytes.ts'
import { Field, Property } from './event-keys.ts'
import { nextEvent, scanAlike, scanEvent } from './event-scan.ts'
import { closeBracket, comma, quote } from './json-bytes.ts'
import { fail, type Scan, skipSpace } from './scan.ts'
import { findEntry, hasSpan, keepRecord, type SpanTape } from './span-tape.ts'

/** Where an array of events was left. */
export interface ElementsCursor {
  /** Place of the first event that is not on the tape, or -1 when all are. */
  resumeAt: number
  /** Events seen. */
  count: number
}

/**
 * Scans the array of events at `at`, all of it, and returns its end. Events go onto the tape until it is full.
 * `agreement`, when there is one, is told of each event's key.
 */
export function scanElements(
  scan: Scan,
  tape: SpanTape,
  at: number,
  cursor: ElementsCursor,
  agreement: KeyAgreement | null,
): number {
  cursor.resumeAt = -1
  cursor.count = 0
  let place = skipSpace(scan, at + 1)
  if (scan.bytes[place] === closeBracket) return place + 1
  let hasRoom = true
  for (;;) {
    if (hasRoom && agreement === null) {
      const count = scanAlike(scan, tape, place)
      cursor.count += count
      if (count > 0) place = nextEvent(tape)
      if (count > 0 && scan.bytes[place] === closeBracket) return place + 1
    }
    if (!hasRoom && cursor.resumeAt < 0) cursor.resumeAt = place
    place = scanEvent(scan, tape, place)
    if (agreement !== null) noteKey(agreement, scan, tape)
    if (hasRoom) hasRoom = keepRecord(tape)
    cursor.count++
    place = skipSpace(scan, place)
    if (scan.bytes[place] === closeBracket) return place + 1
    if (scan.bytes[place] !== comma) fail(scan, place, 'a comma or the end')
    place = skipSpace(scan, place + 1)
  }
}

/** Fills the tape, which is empty, with events from the cursor on. The array has been scanned to its end before. */
export function scanMoreElements(scan: Scan, tape: SpanTape, cursor: ElementsCursor): void {
  let place = cursor.resumeAt
  scan.lastEscape = -1
  for (let hasRoom = true; hasRoom; hasRoom = keepRecord(tape)) {
    if (scanAlike(scan, tape, place) > 0) {
      place = nextEvent(tape)
      if (scan.bytes[place] === closeBracket) {
        cursor.resumeAt = -1
        return
      }
    }
    place = skipSpace(scan, scanEvent(scan, tape, place))
    if (scan.bytes[place] === closeBracket) {
      cursor.resumeAt = -1
      keepRecord(tape)
      return
    }
    place = skipSpace(scan, place + 1)
  }
  cursor.resumeAt = place
}

/** A stretch of events on the tape. */
export interface ScannedPiece {
  /** Why it ends: with the array, because the tape is full, or because the next event is not whole, or no JSON. */
  readonly kind: 'end' | 'full' | 'cut'
  /** Place of the closing bracket, or of the next event. */
  readonly place: number
}

/** Fills the tape, which is empty, with the events of an array from 0 on, of which the text may hold a part only. */
export function scanPiece(scan: Scan, tape: SpanTape): ScannedPiece {
  let place = 0
  try {
    for (;;) {
      if (scanAlike(scan, tape, place) > 0) {
        place = nextEvent(tape)
        if (scan.bytes[place] === closeBracket) return { kind: 'end', place }
      }
      const end = skipSpace(scan, scanEvent(scan, tape, place))
      const isLast = scan.bytes[end] === closeBracket
      if (!isLast && scan.bytes[end] !== comma) fail(scan, end, 'a comma or the end')
      place = isLast ? end : skipSpace(scan, end + 1)
      const hasRoom = keepRecord(tape)
      if (isLast) return { kind: 'end', place }
      if (!hasRoom) return { kind: 'full', place }
    }
  } catch (error) {
    if (isServiceError(error)) return { kind: 'cut', place }
    throw error
  }
}

/** The project API key that events of an array carry. */
export interface KeyAgreement {
  /** Span of the first key found, quotes included; both 0 when there is none. */
  start: number
  end: number
  /** Another event carries another key. */
  isBroken: boolean
}

/** Where an event may carry its key, the first that is a string holding. */
const keyPlaces = [Field.api_key, Field.token, Field.$token, Property.token]

function noteKey(agreement: KeyAgreement, scan: Scan, tape: SpanTape): void {
  // Nothing mends it, and the first key may be as long as a body: it is not read again for every event.
  if (agreement.isBroken) return
  for (const key of keyPlaces) {
    if (!hasSpan(tape, key)) continue
    const entry = findEntry(tape, key)
    const start = tape.cells[entry + 2]!
    if (scan.bytes[start] !== quote) continue
    const end = tape.cells[entry + 3]!
    if (agreement.end === 0) {
      agreement.start = start
      agreement.end = end
    } else if (!isSameSpan(scan.bytes, agreement, start, end)) {
      const first = stringAt(scan, agreement.start, agreement.end)
      if (first !== stringAt(scan, start, end)) agreement.isBroken = true
    }
    return
  }
}

function isSameSpan(bytes: Uint8Array, agreed: KeyAgreement, start: number, end: number): boolean {
  const length = end - start
  return agreed.end - agreed.start === length && isSameBytes(bytes, agreed.start, bytes, start, length)
}

/** The JSON string at [start, end), exactly as it was sent. */
export function stringAt(scan: Scan, start: number, end: number): string {
  const { buffer, byteOffset } = scan.bytes
  const inner = Buffer.from(buffer, byteOffset + start + 1, end - start - 2).toString()
  return inner.includes('\\') ? JSON.parse(`"${inner}"`) : inner
}
