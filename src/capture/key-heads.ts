// What stands between the values of objects that are alike: a head, from the end of the value before (or from the
// opening brace) to the value that it announces, as a rule `,"$os":`. Events of one SDK carry the same heads, each
// often behind the same other. A text that is byte for byte a head guessed from the one before needs no scan, no
// look-up and no search for its double, whatever white space its sender prints.
//
// Heads are kept over all bodies of a thread, which are often small and alike, until one has no room. Measured (Node
// 20, W3, two builds in turn): the scan takes 0.77 of what it took while only names were compared with those of the
// event before, for which events of several kinds in a batch were too unlike.

import { findKey, type KeyIndex, sampleKey } from './key-index.ts'
import { guessesMax, headsMax, headTextBytesMax } from './run-layout.ts'
import type { Scan } from './scan.ts'

/** Stands for the opening brace: the first head of an object follows it. */
export const noHead = 0

/** A head that is not remembered; none is guessed behind it. */
export const strangeHead = 1

/** Four slots a head, so that runs are short. */
const slotMask = headsMax * 4 - 1

/** Senders choose the names: who makes longer runs of slots gains nothing. */
const runMax = 16

/** What must be known of heads to follow them, by number. */
export interface HeadRoom {
  readonly text: Uint8Array
  /** Where a head stands in `text`, from a multiple of 4 on. */
  readonly starts: Int32Array
  readonly sizes: Int32Array
  /** Number of the known name, or -1. */
  readonly keys: Int16Array
  /** The first head of the same name: others have other white space, or stand behind the brace. */
  readonly names: Int16Array
  /**
   * For each head those that followed it, the newest first. So many are tried, one for each kind of event that goes its
   * own way there.
   */
  readonly guesses: Int16Array
  /** For the first head of each name: the event that met the name last. */
  readonly met: Int32Array
}

/** Heads by number. */
export interface KeyHeads extends HeadRoom {
  /** The names that capture knows. */
  readonly known: KeyIndex
  /** The bytes of `text`. */
  readonly words: Int32Array
  /** The last four bytes of a head, of which none is shorter: a brace or comma, two quotes and a colon. */
  readonly lastWords: Int32Array
  /** Where a head's name stands in `text`, without quotes. */
  readonly nameStarts: Int32Array
  readonly nameEnds: Int32Array
  /** Heads by a hash of their names; open addressing. */
  readonly slots: Int16Array
  count: number
  textUsed: number
  /** A head had no room. None is added to an object that has one more, and all are forgotten before the next. */
  isFull: boolean
  /** Of the head passed last: where its value starts, or the object ends; number of its known name, or -1. */
  place: number
  key: number
}

/** Heads in `room`, which is theirs. */
export function createHeads(known: KeyIndex, room = createRoom()): KeyHeads {
  const { text } = room
  return {
    ...room,
    known,
    words: new Int32Array(text.buffer, text.byteOffset, text.length >> 2),
    lastWords: new Int32Array(headsMax),
    nameStarts: new Int32Array(headsMax),
    nameEnds: new Int32Array(headsMax),
    slots: new Int16Array(slotMask + 1),
    count: strangeHead + 1,
    textUsed: 0,
    isFull: false,
    place: 0,
    key: -1,
  }
}

function createRoom(): HeadRoom {
  return {
    text: new Uint8Array(headTextBytesMax),
    starts: new Int32Array(headsMax),
    sizes: new Int32Array(headsMax),
    keys: new Int16Array(headsMax),
    names: new Int16Array(headsMax),
    guesses: new Int16Array(headsMax * guessesMax),
    met: new Int32Array(headsMax),
  }
}

/** Makes ready for an object: where there was no room, all heads are forgotten. */
export function openHeads(heads: KeyHeads): void {
  if (!heads.isFull) return
  heads.guesses.fill(0)
  heads.slots.fill(0)
  heads.count = strangeHead + 1
  heads.textUsed = 0
  heads.isFull = false
}

/** Returns the head that stands at `at` when it is one of those that followed `before`, and passes it; else noHead. */
export function followHead(scan: Scan, heads: KeyHeads, before: number, at: number): number {
  const { guesses } = heads
  const last = (before + 1) * guessesMax
  for (let index = before * guessesMax; index < last; index++) {
    const head = guesses[index]!
    if (head === noHead) return noHead
    if (isHead(scan, heads, head, at)) {
      passGuessed(heads, head, at)
      return head
    }
  }
  return noHead
}

/** Passes `head`, which stands at `at`. */
export function passGuessed(heads: KeyHeads, head: number, at: number): void {
  heads.place = at + heads.sizes[head]!
  heads.key = heads.keys[head]!
}

/**
 * Passes the head at [start, end), which did not follow `before` so far and whose name, [nameStart, nameEnd), has no
 * escapes. Returns its number.
 */
export function learnHead(
  scan: Scan,
  heads: KeyHeads,
  before: number,
  start: number,
  nameStart: number,
  nameEnd: number,
  end: number,
): number {
  heads.place = end
  const head = findHead(scan, heads, start, nameStart, nameEnd, end)
  if (head === strangeHead) {
    const sample = sampleKey(scan.bytes, nameStart, nameEnd)
    heads.key = findKey(heads.known, scan.bytes, nameStart, nameEnd, sample)
    return head
  }
  heads.key = heads.keys[head]!
  if (before !== strangeHead) {
    const first = before * guessesMax
    heads.guesses.copyWithin(first + 1, first, first + guessesMax - 1)
    heads.guesses[first] = head
  }
  return head
}

/** Notes that event `generation` has a property of this head's name. Returns false when it may have had one before. */
export function meetName(heads: KeyHeads, head: number, generation: number): boolean {
  if (head === strangeHead) return false
  const name = heads.names[head]!
  const isNew = heads.met[name] !== generation
  heads.met[name] = generation
  return isNew
}

/** The head at [start, end), which is new if need be; strangeHead when there is no room. */
function findHead(
  scan: Scan,
  heads: KeyHeads,
  start: number,
  nameStart: number,
  nameEnd: number,
  end: number,
): number {
  let slot = hashName(scan, nameStart, nameEnd) & slotMask
  let name = noHead
  for (let run = 0; run < runMax; run++) {
    const head = heads.slots[slot]!
    if (head === noHead) {
      if (heads.count === headsMax || heads.textUsed + end - start > headTextBytesMax || heads.isFull) break
      const created = createHead(scan, heads, name, start, nameStart, nameEnd, end)
      heads.slots[slot] = created
      return created
    }
    if (isName(scan, heads, head, nameStart, nameEnd)) {
      name = heads.names[head]!
      if (heads.sizes[head] === end - start && isHead(scan, heads, head, start)) return head
    }
    slot = (slot + 1) & slotMask
  }
  heads.isFull = true
  return strangeHead
}

/** Adds a head. `name` is the first of its name, noHead when it is the first itself. */
function createHead(
  { bytes, view }: Scan,
  heads: KeyHeads,
  name: number,
  start: number,
  nameStart: number,
  nameEnd: number,
  end: number,
): number {
  const head = heads.count++
  const textStart = heads.textUsed
  for (let at = start; at < end; at++) heads.text[textStart + at - start] = bytes[at]!
  // The next one starts at a multiple of 4.
  heads.textUsed = (textStart + end - start + 3) & ~3
  heads.starts[head] = textStart
  heads.sizes[head] = end - start
  heads.lastWords[head] = view.getInt32(end - 4, true)
  heads.nameStarts[head] = textStart + nameStart - start
  heads.nameEnds[head] = textStart + nameEnd - start
  heads.keys[head] = findKey(heads.known, bytes, nameStart, nameEnd, sampleKey(bytes, nameStart, nameEnd))
  heads.names[head] = name === noHead ? head : name
  // No event has this number.
  heads.met[head] = 0
  return head
}

/** Whether the text at `at` begins as `head` does, all of it, with a value right behind: no more white space. */
function isHead(scan: Scan, heads: KeyHeads, head: number, at: number): boolean {
  const { bytes, view } = scan
  const { words } = heads
  const last = at + heads.sizes[head]! - 4
  if (last + 4 >= scan.end) return false
  let index = heads.starts[head]! >> 2
  for (let place = at; place < last; place += 4) {
    if (view.getInt32(place, true) !== words[index++]) return false
  }
  return view.getInt32(last, true) === heads.lastWords[head] && bytes[last + 4]! > 0x20
}

function isName({ bytes }: Scan, heads: KeyHeads, head: number, start: number, end: number): boolean {
  const nameStart = heads.nameStarts[head]!
  if (heads.nameEnds[head]! - nameStart !== end - start) return false
  for (let at = start; at < end; at++) if (bytes[at] !== heads.text[nameStart + at - start]) return false
  return true
}

/** Mixes all of a name, four bytes at a time. */
function hashName({ bytes, view }: Scan, start: number, end: number): number {
  let hash = end - start
  let at = start
  for (; at + 4 <= end; at += 4) hash = mix(hash ^ view.getInt32(at, true))
  for (; at < end; at++) hash = mix(hash ^ bytes[at]!)
  return hash
}

function mix(word: number): number {
  const product = Math.imul(word, 0x9e3779b1)
  return product ^ (product >>> 15)
}
