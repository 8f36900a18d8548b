// What an event's properties say of its person, while they are at hand: the runs of members that belong to the person
// column, and the digest of all of them, as src/capture/person-column and person-digest have it. Events that do more
// than carry mapped properties and groups are left to these, and so is what a sender spells in another way than we do.

import {
  entrySize,
  keyHashesAt,
  keySizesAt,
  personKindsAt,
  personObject,
  recordHeadSize,
  runSize,
  suppressedMember,
  unusualKey,
} from '../src/capture/run-layout'
import { openBrace } from './plain-value'

/** Both words of a digest begin so. */
const firstLow: i32 = 0x2545f491
const firstHigh: i32 = 2

let low: i32 = 0
let high: i32 = 0

/**
 * Adds to `record`, whose entries end at `entriesEnd`, its digest and runs. `toText` is what to add to a place in the
 * text for its address, `properties` where they begin. Returns the record's end.
 */
export function addPerson(record: usize, entriesEnd: usize, toText: i32, properties: i32): usize {
  let run = entriesEnd
  let lastEnd = -1
  let length = 0
  let isQuiet = true
  low = firstLow
  high = firstHigh
  store<i32>(record, -1, 20)
  for (let entry = record + recordHeadSize * 4; entry < entriesEnd; entry += entrySize * 4) {
    const key: i32 = load<i32>(entry)
    const kind: i32 = load<u8>(personKindsAt + key)
    if (kind === 0) continue
    const before = load<i32>(entry, 4)
    const start = load<i32>(entry, 8)
    const end = load<i32>(entry, 12)
    if (kind === unusualKey) return entriesEnd
    if (kind === personObject && load<u8>(toText + start) !== openBrace) continue
    const first = before === properties + 1 ? before : before + 1
    if (start - first !== load<i32>(keySizesAt + (key << 2))) return entriesEnd
    mix(load<i32>(keyHashesAt + (key << 2)))
    if (kind !== suppressedMember) {
      mixValue(toText + start, end - start)
      isQuiet = false
    }
    if (before === lastEnd) length += end - lastEnd
    else {
      length = end - first
      store<i32>(run, first)
      run += runSize * 4
    }
    store<i32>(run - runSize * 4, length, 4)
    lastEnd = end
  }
  store<i32>(record, <i32>(run - entriesEnd) / (runSize * 4), 20)
  store<i32>(record, low, 24)
  store<i32>(record, high, 28)
  store<i32>(record, isQuiet ? 1 : 0, 32)
  return run
}

function mixValue(at: usize, length: i32): void {
  mix(length)
  if (length < 4) {
    mix(byteAt(at) | (byteAt(at + (length >>> 1)) << 8) | (byteAt(at + length - 1) << 16))
    return
  }
  const last = at + length - 4
  for (let place = at; place < last; place += 4) mix(load<i32>(place))
  mix(load<i32>(last))
}

function byteAt(at: usize): i32 {
  return load<u8>(at)
}

function mix(word: i32): void {
  const one = (low ^ word) * <i32>0x9e3779b1
  low = one ^ (one >>> 15)
  const other = (high + word) * <i32>0x85ebca6b
  high = other ^ (other >>> 13)
}
