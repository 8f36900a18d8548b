// What follows from the ids of events that were scanned, once their project is known: the key by which a journal lane
// knows an event again, and the born id where it is remembered. The functions are those of src/capture/dedup-key and
// born-ids, which do it for all events of which event-facts does not tell.

import {
  bornIdCell,
  bornIdFact,
  bornIdWord,
  bornSlotCount,
  bornSlotsAt,
  bornSlotWords,
  cellsAt,
  dedupKeyCell,
  dedupKeyFact,
  factsCell,
  idCell,
  idSizeWord,
  nameCell,
  nameSizeCell,
  projectWord,
  textsFact,
  uuidCell,
  uuidFact,
} from '../src/capture/run-layout'

let one: i32 = 0
let two: i32 = 0

/** Adds to the records of the tape up to `top` what follows from their ids as events of this project. */
export function addIds(top: i32, projectId: i32): void {
  const end: usize = cellsAt + (top << 2)
  // Slots are seldom in a cache. So close to each other, several are on their way at once.
  for (let record: usize = cellsAt; record < end; record += load<i32>(record) << 2) {
    const facts: i32 = load<i32>(record, factsCell * 4)
    if ((facts & textsFact) === 0) continue
    store<i32>(record, projectId, (idCell + projectWord) * 4)
    if (addBornId(record, projectId)) store<i32>(record, facts | bornIdFact, factsCell * 4)
  }
  const wanted = textsFact | uuidFact
  for (let record: usize = cellsAt; record < end; record += load<i32>(record) << 2) {
    const facts: i32 = load<i32>(record, factsCell * 4)
    if ((facts & wanted) !== wanted) continue
    addDedupKey(record, projectId)
    store<i32>(record, facts | dedupKeyFact, factsCell * 4)
  }
}

/** Copies the born id of a record's distinct_id from its slot. Returns false when it is in none. */
function addBornId(record: usize, projectId: i32): bool {
  const id = record + idCell * 4
  const idEnd = id + load<i32>(id, idSizeWord * 4)
  let hash = projectId
  for (let place = id; place < idEnd; place += 4) {
    hash = (hash ^ load<i32>(place)) * <i32>0x9e3779b1
    hash ^= hash >>> 15
  }
  let slot: usize = bornSlotsAt + (hash & (bornSlotCount - 2)) * bornSlotWords * 4
  if (!isSlotOf(slot, id)) {
    slot += bornSlotWords * 4
    if (!isSlotOf(slot, id)) return false
  }
  v128.store(record + bornIdCell * 4, v128.load(slot + bornIdWord * 4))
  return true
}

/** Whether a slot begins as `id` does: with its text, its length and its project, 48 bytes. */
function isSlotOf(slot: usize, id: usize): bool {
  const first = v128.xor(v128.load(slot), v128.load(id))
  const middle = v128.xor(v128.load(slot + 16), v128.load(id + 16))
  const last = v128.xor(v128.load(slot + 32), v128.load(id + 32))
  return !v128.any_true(v128.or(first, v128.or(middle, last)))
}

function addDedupKey(record: usize, projectId: i32): void {
  one = mixOne(0x9747b28c, projectId)
  two = mixTwo(0x3c6ef372, projectId)
  addText(record + uuidCell * 4, 16)
  addText(record + nameCell * 4, load<i32>(record, nameSizeCell * 4))
  addText(record + idCell * 4, load<i32>(record, (idCell + idSizeWord) * 4))
  const high = avalanche(one ^ rotl<i32>(two, 16))
  const low = avalanche(two ^ (high * <i32>0x9e3779b1))
  store<i32>(record, high, dedupKeyCell * 4)
  store<i32>(record, (high | low) === 0 ? 1 : low, (dedupKeyCell + 1) * 4)
}

/** Adds a text that is padded with zeros. */
function addText(at: usize, size: i32): void {
  const end = at + (size & ~3)
  for (let place = at; place < end; place += 4) mix(load<i32>(place))
  mix((size & 3) === 0 ? 0 : load<i32>(end))
  mix(size)
}

function mix(word: i32): void {
  one = mixOne(one, word)
  two = mixTwo(two, word)
}

function mixOne(hash: i32, word: i32): i32 {
  const mixed = rotl<i32>(word * <i32>0xcc9e2d51, 15) * <i32>0x1b873593
  return rotl<i32>(hash ^ mixed, 13) * 5 + <i32>0xe6546b64
}

function mixTwo(hash: i32, word: i32): i32 {
  const mixed = rotl<i32>(word * <i32>0x239b961b, 16) * <i32>0xab0e9789
  return rotl<i32>(hash ^ mixed, 17) * 5 + <i32>0x561ccd1b
}

function avalanche(word: i32): i32 {
  let mixed = (word ^ (word >>> 16)) * <i32>0x85ebca6b
  mixed = (mixed ^ (mixed >>> 13)) * <i32>0xc2b2ae35
  return mixed ^ (mixed >>> 16)
}
