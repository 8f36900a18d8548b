// The common case of scanning events, in AssemblyScript for WebAssembly: as long as each head is one of those guessed
// (key-heads), members are passed and the spans of known keys written to the tape; whole events where all of one is
// like that. Whatever is different is left to src/capture/event-scan, which knows all of the grammar: a head that
// nobody guessed, an escape by number, an exponent, a control character, a name that comes twice. Nothing is refused
// here, and nothing kept of a member or event that is left.
//
// The text is looked at through a window that ends with a NUL. Nothing goes on behind one, so there is no other test
// for the end.
//
// Heads are compared 16 bytes at a time: 1.05 times as fast as 8 without SIMD (Node 20, W3).

import {
  batchField,
  cellsAt,
  cellsMax,
  entrySize,
  fieldRoomAt,
  guessesAt,
  guessesMax,
  headTextAt,
  keySeenAt,
  keysAt,
  layoutNumber,
  leftAt,
  metAt,
  namesAt,
  propertiesField,
  propertyRoomAt,
  recordHeadSize,
  recordSizeMax,
  sizesAt,
  startsAt,
  windowAt,
} from '../src/capture/run-layout'
import { addFacts } from './event-facts'
import { addPerson } from './person-run'
import {
  closeBrace,
  closeBracket,
  comma,
  depthEntered,
  escapeAt,
  left,
  openBrace,
  passSpace,
  passValue,
  setDepth,
  setEscape,
  space,
} from './plain-value'

export { addIds } from './event-ids'

export const layout: i32 = layoutNumber

const noHead: i32 = 0

// Of the members passed last: the last one's head, the place behind its value, where the tape goes on, how many.
let lastHead: i32 = noHead
let membersEnd: usize = 0
let entriesEnd: usize = 0
let memberCount: i32 = 0

/**
 * Passes members of a properties object from `start` of the window on, where the value of `before` ends or its brace
 * stands. `base` is added to a place in the window for the place in the text; `top` is the tape's. Returns the head
 * guessed of the member that is left, or noHead; the rest is at `leftAt`.
 */
export function pass(start: i32, before: i32, generation: i32, base: i32, top: i32): i32 {
  setEscape(left)
  setDepth(0)
  const next = passMembers(windowAt + start, before, generation, base, cellsAt + (top << 2))
  store<i32>(leftAt, lastHead)
  store<i32>(leftAt, textPlace(membersEnd, base), 4)
  store<i32>(leftAt, memberCount, 8)
  store<i32>(leftAt, cellOf(entriesEnd), 12)
  store<i32>(leftAt, escapePlace(escapeAt(), base), 16)
  store<i32>(leftAt, depthEntered(), 20)
  return next
}

/**
 * Passes events of an array from `start` of the window on, where one begins: `generation` is the number of the first.
 * Each becomes a record of the tape, whose top is `top`. Returns how many; the rest is at `leftAt`.
 */
export function passEvents(start: i32, generation: i32, base: i32, top: i32): i32 {
  let at: usize = windowAt + start
  let used: usize = cellsAt + (top << 2)
  let event = generation
  let slash: usize = left
  let depth = 0
  let propertyCount = 0
  let count = 0
  const usedMax: usize = cellsAt + ((cellsMax - 3 * recordSizeMax) << 2)
  // The number 0 is left to who begins to count again.
  for (; event !== 0 && used <= usedMax && load<u8>(at) === openBrace; event++) {
    setEscape(slash)
    setDepth(0)
    const next = nextEvent(passEvent(at, event, base, used))
    if (next === left) {
      event++
      break
    }
    at = next
    slash = escapeAt()
    depth = depthEntered()
    propertyCount = load<i32>(used, 16)
    used = entriesEnd
    count++
  }
  store<i32>(leftAt, count)
  store<i32>(leftAt, textPlace(at, base), 4)
  store<i32>(leftAt, cellOf(used), 8)
  store<i32>(leftAt, propertyCount, 12)
  store<i32>(leftAt, escapePlace(slash, base), 16)
  store<i32>(leftAt, depth, 20)
  store<i32>(leftAt, event - 1, 24)
  return count
}

/** Where an event begins, or the array ends, behind the event that ends at `end`; or `left`. */
function nextEvent(end: usize): usize {
  if (end === left || load<u8>(end) === closeBracket) return end
  if (load<u8>(end) !== comma) return left
  const next = passSpace(end + 1)
  return load<u8>(next) === openBrace ? next : left
}

/** Passes the event at `at` and writes its record to `record`. Returns its end, or `left`. */
function passEvent(at: usize, generation: i32, base: i32, record: usize): usize {
  let place = at
  let behind = at + 1
  let head = noHead
  let entry = record + recordHeadSize * 4
  let propertyCount = 0
  let properties = 0
  for (;;) {
    const next = guessedHead(fieldRoomAt, head, place)
    if (next === noHead) break
    const value = place + size(fieldRoomAt, next)
    const key: i32 = load<i16>(fieldRoomAt + keysAt + (next << 1))
    if (key === batchField) return left
    if (key === propertiesField && load<u8>(value) === openBrace) {
      place = passProperties(value, generation, base, entry)
      entry = entriesEnd
      propertyCount = memberCount
      properties = textPlace(value, base)
    } else place = passValue(value, 2)
    if (place === left) return left
    if (key >= 0) {
      if (!meet(keySeenAt + (key << 2), generation)) return left
      addEntry(entry, key, behind, value, place, base)
      entry += entrySize * 4
    }
    behind = place
    head = next
  }
  if (head === noHead || load<u8>(place) !== closeBrace) return left
  const recordEnd = addPerson(record, entry, windowAt - base, properties)
  addFacts(record, entry, windowAt - base)
  store<i32>(record, <i32>(recordEnd - record) >> 2)
  store<i32>(record, textPlace(at, base), 4)
  store<i32>(record, textPlace(place + 1, base), 8)
  store<i32>(record, 0, 12)
  store<i32>(record, propertyCount, 16)
  entriesEnd = recordEnd
  return place + 1
}

/** Passes the properties object at `at`. Returns its end, or `left`. */
function passProperties(at: usize, generation: i32, base: i32, entry: usize): usize {
  if (depthEntered() < 2) setDepth(2)
  if (passMembers(at, noHead, generation, base, entry) !== noHead) return left
  const end = lastHead === noHead ? at + 1 : membersEnd
  return load<u8>(end) === closeBrace ? end + 1 : left
}

/** Passes members of a properties object from `at` on. Returns the head guessed of the one that is left, or noHead. */
function passMembers(at: usize, before: i32, generation: i32, base: i32, firstEntry: usize): i32 {
  let place = at
  let behind = before === noHead ? at + 1 : at
  let head = before
  let entry = firstEntry
  let count = 0
  let next = noHead
  for (;;) {
    next = guessedHead(propertyRoomAt, head, place)
    if (next === noHead) break
    const value = place + size(propertyRoomAt, next)
    const slash = escapeAt()
    const end = passValue(value, 3)
    if (end === left) {
      setEscape(slash)
      break
    }
    const key: i32 = load<i16>(propertyRoomAt + keysAt + (next << 1))
    const name: i32 = load<i16>(propertyRoomAt + namesAt + (next << 1))
    const seen: usize = key >= 0 ? keySeenAt + (key << 2) : propertyRoomAt + metAt + (name << 2)
    if (!meet(seen, generation)) {
      setEscape(slash)
      break
    }
    if (key >= 0) {
      addEntry(entry, key, behind, value, end, base)
      entry += entrySize * 4
    }
    place = end
    behind = end
    head = next
    count++
  }
  lastHead = head
  membersEnd = place
  entriesEnd = entry
  memberCount = count
  return next
}

/** Notes that the event met a name. Returns false when it had met it before. */
function meet(seen: usize, generation: i32): bool {
  if (load<i32>(seen) === generation) return false
  store<i32>(seen, generation)
  return true
}

function addEntry(entry: usize, key: i32, behind: usize, value: usize, end: usize, base: i32): void {
  store<i32>(entry, key)
  store<i32>(entry, textPlace(behind, base), 4)
  store<i32>(entry, textPlace(value, base), 8)
  store<i32>(entry, textPlace(end, base), 12)
}

function textPlace(at: usize, base: i32): i32 {
  return <i32>at - windowAt + base
}

function escapePlace(at: usize, base: i32): i32 {
  return at === left ? -1 : textPlace(at, base)
}

function cellOf(at: usize): i32 {
  return (<i32>at - cellsAt) >> 2
}

function size(room: usize, head: i32): i32 {
  return load<i32>(room + sizesAt + (head << 2))
}

/** The head that stands at `at` when it is one of those that followed `before`, else noHead. */
function guessedHead(room: usize, before: i32, at: usize): i32 {
  const first: usize = room + guessesAt + before * guessesMax * 2
  for (let guess = first; guess < first + guessesMax * 2; guess += 2) {
    const head: i32 = load<i16>(guess)
    if (head === noHead) return noHead
    if (isHead(room, head, at)) return head
  }
  return noHead
}

/** Whether the text at `at` begins as `head` does, all of it, with a value right behind: no more white space. */
function isHead(room: usize, head: i32, at: usize): bool {
  const text: usize = room + headTextAt + load<i32>(room + startsAt + (head << 2))
  const length = size(room, head)
  if (length <= 16) {
    const differs = i8x16.bitmask(i8x16.ne(v128.load(at), v128.load(text)))
    return (differs & ((1 << length) - 1)) === 0 && load<u8>(at + length) > space
  }
  const last = length - 16
  for (let index = 0; index < last; index += 16) {
    if (v128.any_true(v128.xor(v128.load(at + index), v128.load(text + index)))) return false
  }
  if (v128.any_true(v128.xor(v128.load(at + last), v128.load(text + last)))) return false
  return load<u8>(at + length) > space
}
