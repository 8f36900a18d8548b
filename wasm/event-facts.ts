// What single values of an event come to, while they are at hand: its uuid as 16 bytes, its timestamp as a number, its
// name and distinct_id where their project will find them (event-ids). Told of what SDKs send, a uuid with hyphens, a
// timestamp as Date.toISOString prints it, short texts without escapes; the rest is left to src/capture.

import {
  $distinctIdField,
  daysCell,
  distinctIdField,
  distinctIdProperty,
  entrySize,
  eventField,
  factsCell,
  idCell,
  idSizeWord,
  idWords,
  millisCell,
  nameCell,
  nameSizeCell,
  nameWords,
  recordHeadSize,
  textsFact,
  timeFact,
  timestampField,
  uuidCell,
  uuidFact,
  uuidField,
} from '../src/capture/run-layout'
import { quote } from './plain-value'

const uuidSize: i32 = 36 + 2
const timestampSize: i32 = 24 + 2

const hyphen: u32 = 0x2d
const zero: u32 = 0x30

/** Days from 1 March of the year 400 before 0 to the epoch. */
const daysToEpoch: i32 = 719_468 + 146_097

/** Adds what can be told to `record`, whose entries end at `entriesEnd`; `toText` makes a place an address. */
export function addFacts(record: usize, entriesEnd: usize, toText: i32): void {
  let facts = 0
  let name: usize = 0
  let id: usize = 0
  let propertyId: usize = 0
  let hasOtherId = false
  for (let entry = record + recordHeadSize * 4; entry < entriesEnd; entry += entrySize * 4) {
    const key: i32 = load<i32>(entry)
    if (key > distinctIdProperty) continue
    if (key === eventField) name = entry
    else if (key === distinctIdField) id = entry
    else if (key === distinctIdProperty) propertyId = entry
    else if (key === $distinctIdField) hasOtherId = true
    else if (key === uuidField) {
      if (isText(entry, toText, uuidSize) && addUuid(firstOf(entry, toText), record + uuidCell * 4))
        facts |= uuidFact
    } else if (key === timestampField) {
      if (isText(entry, toText, timestampSize) && addTime(firstOf(entry, toText), record)) facts |= timeFact
    }
  }
  if (id === 0) id = propertyId
  if (name !== 0 && id !== 0 && !hasOtherId && addTexts(record, name, id, toText)) facts |= textsFact
  store<i32>(record, facts, factsCell * 4)
}

/** Whether an entry's value is a string that takes `size` bytes, quotes included. */
function isText(entry: usize, toText: i32, size: i32): bool {
  return (
    load<i32>(entry, 12) - load<i32>(entry, 8) === size && load<u8>(toText + load<i32>(entry, 8)) === quote
  )
}

/** The address of the first character of an entry's value, a string. */
function firstOf(entry: usize, toText: i32): usize {
  return toText + load<i32>(entry, 8) + 1
}

/** Writes the UUID with hyphens at `at` as 16 bytes. Returns false where there is none. */
function addUuid(at: usize, target: usize): bool {
  const areHyphens =
    load<u8>(at + 8) === hyphen &&
    load<u8>(at + 13) === hyphen &&
    load<u8>(at + 18) === hyphen &&
    load<u8>(at + 23) === hyphen
  if (!areHyphens) return false
  const first = v128.load(at)
  const middle = v128.load(at + 16)
  const last = v128.load(at + 20)
  const high = i8x16.shuffle(first, middle, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16, 17)
  const low = i8x16.shuffle(middle, last, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 28, 29, 30, 31)
  if (!areHexDigits(high) || !areHexDigits(low)) return false
  v128.store(target, i8x16.narrow_i16x8_u(hexPairs(high), hexPairs(low)))
  return true
}

function areHexDigits(text: v128): bool {
  const isDigit = i8x16.lt_u(i8x16.sub(text, i8x16.splat(0x30)), i8x16.splat(10))
  const isLetter = i8x16.lt_u(i8x16.sub(v128.or(text, i8x16.splat(0x20)), i8x16.splat(0x61)), i8x16.splat(6))
  return i8x16.all_true(v128.or(isDigit, isLetter))
}

/** What pairs of digits stand for, each in 16 bits. A letter has the bit 0x40, and is 9 more than its lower half. */
function hexPairs(text: v128): v128 {
  const letters = i8x16.shr_u(v128.and(text, i8x16.splat(0x40)), 6)
  const lower = v128.and(text, i8x16.splat(0x0f))
  const values = i8x16.add(lower, v128.or(letters, i8x16.shl(letters, 3)))
  return v128.or(i16x8.shl(v128.and(values, i16x8.splat(0xff)), 4), i16x8.shr_u(values, 8))
}

/** Whether digits were met only, since it was set. */
let areDigits = true

/** Notes the timestamp at `at`, like 2024-05-01T12:00:00.000Z. Returns false where there is none. */
function addTime(at: usize, record: usize): bool {
  const isIso =
    load<u8>(at + 4) === hyphen &&
    load<u8>(at + 7) === hyphen &&
    load<u8>(at + 10) === 0x54 &&
    load<u8>(at + 13) === 0x3a &&
    load<u8>(at + 16) === 0x3a &&
    load<u8>(at + 19) === 0x2e &&
    load<u8>(at + 23) === 0x5a
  if (!isIso) return false
  areDigits = true
  const year = twoDigits(at) * 100 + twoDigits(at + 2)
  const month = twoDigits(at + 5)
  const day = twoDigits(at + 8)
  const hour = twoDigits(at + 11)
  const minute = twoDigits(at + 14)
  const second = twoDigits(at + 17)
  const milli = twoDigits(at + 20) * 10 + digit(at + 22)
  // A leap second is the first of the next minute.
  if (!areDigits || hour > 23 || minute > 59 || second > 60) return false
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false
  store<i32>(record, daysSinceEpoch(year, month, day), daysCell * 4)
  store<i32>(record, ((hour * 60 + minute) * 60 + second) * 1000 + milli, millisCell * 4)
  return true
}

function twoDigits(at: usize): i32 {
  return digit(at) * 10 + digit(at + 1)
}

function digit(at: usize): i32 {
  const value: u32 = load<u8>(at) - zero
  if (value > 9) areDigits = false
  return value
}

function daysOf(year: i32, month: i32): i32 {
  if (month !== 2) return 30 + ((month + (month >> 3)) & 1)
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

/** Years begin in March here, so that a leap day is the last of its year. */
function daysSinceEpoch(year: i32, month: i32, day: i32): i32 {
  const past = year + 400 - (month < 3 ? 1 : 0)
  const months = month < 3 ? month + 9 : month - 3
  const leapDays = past / 4 - past / 100 + past / 400
  return past * 365 + leapDays + (months * 153 + 2) / 5 + day - 1 - daysToEpoch
}

/** Notes the texts of two entries. Returns false when one is no string, is empty, has escapes or is longer. */
function addTexts(record: usize, name: usize, id: usize, toText: i32): bool {
  const idSize = textSize(id, toText)
  const nameSize = textSize(name, toText)
  if (idSize < 1 || idSize > idWords * 4 || nameSize < 1 || nameSize > nameWords * 4) return false
  // The third 16 bytes of an id reach into the cells behind it, which come later.
  if (!copyText(firstOf(id, toText), idSize, record + idCell * 4, 48)) return false
  if (!copyText(firstOf(name, toText), nameSize, record + nameCell * 4, nameWords * 4)) return false
  store<i32>(record, idSize, (idCell + idSizeWord) * 4)
  store<i32>(record, nameSize, nameSizeCell * 4)
  return true
}

/** Bytes between the quotes of an entry's value, or -1 when it is no string. */
function textSize(entry: usize, toText: i32): i32 {
  const start = load<i32>(entry, 8)
  return load<u8>(toText + start) === quote ? load<i32>(entry, 12) - start - 2 : -1
}

/** Copies a text and zeros behind it, `room` bytes. Returns false when a backslash is among them. */
function copyText(from: usize, size: i32, to: usize, room: i32): bool {
  const places = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  for (let index = 0; index < room; index += 16) {
    const isText = i8x16.lt_s(places, i8x16.splat(<i8>(size - index)))
    const text = v128.and(v128.load(from + index), isText)
    if (v128.any_true(i8x16.eq(text, i8x16.splat(0x5c)))) return false
    v128.store(to + index, text)
  }
  return true
}
