// Digests of what events say of persons: a column of every batch, written while the values are at hand. Most events
// repeat what the one before said. A digest that a person has seen means that the event changes nothing, and its person
// column is not read at all.
//
// Left out are the values of suppressed properties that come from the event itself ($current_url, $browser, …): when
// the person has seen the same event with other values, it has these properties, and a new value alone is no reason to
// write (suppression.ts). So a visitor who goes from page to page repeats himself. `$set` and events that may join ids
// leave nothing out.
//
// A digest is made of the members of the person column in their order: of each a hash of its name, and of one that
// counts the length and the text of its value, four bytes at a time in two words that both take in everything. Another
// spelling is another digest, which only means that the event is looked at. What goes in is told apart by its lengths,
// so that two events share a digest by chance alone, or because somebody made them: nothing here is secret. Digests are
// compared with those of the same person, and that person can be set to anything by whoever may send its events.
//
// Digests of other builds are compared with those of this one: they are in the journal, and with the rows of persons.
// Names go in as they are spelt, not by their numbers; what else changes here changes the version of the batch, and a
// migration forgets what persons have seen (`person.seen`). So does one when the fold makes more of the same event.
//
// Measured (Node 20, W3, a slow phase of the machine): in a loop 0.13 µs an event, 14 members of 211 bytes together, in
// place of 1.05 by byte and from the column, in the persons' thread; in the decoder 4 % of what decoding takes.

import { keyCount, keyTexts } from './event-keys.ts'
import { EventName } from './event-names.ts'
import { suppressedKeys } from './suppression.ts'

/** Values of known keys in a text of their own. */
export interface DigestedValues {
  readonly view: DataView
  /** For each its key, and its start and end in `view`. */
  readonly cells: Int32Array
}

/** Digests are below 2 to the power of this. An event looks like one of the three before it once in 7e11 times. */
export const digestBits = 42

/** Whether an event with this digest says nothing but what is suppressed. */
export function isQuiet(digest: number): boolean {
  return digest % 2 === 1
}

/** Whether digests tell all that an event of this name asks of its person. The digest of others is 0. */
export function hasDigest(name: number): boolean {
  switch (name) {
    case EventName.$groupidentify:
    case EventName.$exception:
    case EventName.$$heatmap:
    case EventName['survey shown']:
      return false
    default:
      return true
  }
}

/** Whether events of this name say what they say even where it is suppressed for others. */
export function countsAll(name: number): boolean {
  switch (name) {
    case EventName.$set:
    case EventName.$identify:
    case EventName.$create_alias:
    case EventName.$merge_dangerously:
      return true
    default:
      return false
  }
}

/** Both words of a digest begin so; no name hashes to it. */
const firstWord = 0x2545f491

/** By key. */
export const keyHashes: Int32Array = new Int32Array(keyCount)
/** By key: 1 for those whose values do not count. `$os_name` counts: an empty one derives nothing. */
export const leftOut: Uint8Array = new Uint8Array(keyCount)
for (const [key, text] of keyTexts.entries()) {
  const name = Buffer.from(text.subarray(1, -2)).toString()
  keyHashes[key] = hashOfName(text)
  leftOut[key] = suppressedKeys.has(name) && name !== '$os_name' ? 1 : 0
}

/** Makes one digest at a time, member by member. */
export class PersonDigest {
  #low = 0
  #high = 0
  #countsAll = false
  #isQuiet = true

  begin(countsAll: boolean): void {
    this.#low = firstWord
    this.#high = countsAll ? 1 : 2
    this.#countsAll = countsAll
    this.#isQuiet = !countsAll
  }

  /** Adds the member with its value at [start, end) of `view`, at least one byte. */
  add(key: number, view: DataView, start: number, end: number): void {
    const hash = keyHashes[key]!
    let low = mixLow(this.#low, hash)
    let high = mixHigh(this.#high, hash)
    if (this.#countsAll || leftOut[key] === 0) {
      const length = end - start
      low = mixLow(low, length)
      high = mixHigh(high, length)
      // The last word overlaps the one before where the length is no multiple of four.
      const last = end - 4
      for (let at = start; at < last; at += 4) {
        const word = view.getInt32(at, true)
        low = mixLow(low, word)
        high = mixHigh(high, word)
      }
      const word = length < 4 ? shortWord(view, start, length) : view.getInt32(last, true)
      low = mixLow(low, word)
      high = mixHigh(high, word)
      this.#isQuiet = false
    }
    this.#low = low
    this.#high = high
  }

  /** Adds one member for each of `values`. */
  addAll({ view, cells }: DigestedValues): void {
    for (let cell = 0; cell < cells.length; cell += 3) {
      this.add(cells[cell]!, view, cells[cell + 1]!, cells[cell + 2]!)
    }
  }

  /** The digest, at least 1. */
  end(): number {
    return digestOf(this.#low, this.#high, this.#isQuiet)
  }
}

/** The digest whose two words these are at the end; `isQuiet` when no value counted. */
export function digestOf(lowWord: number, high: number, isQuiet: boolean): number {
  // The upper bits of the last word have not reached all of the lower one yet.
  const low = mixLow(lowWord, 0)
  const digest = (low >>> 0) * 0x400 + (high >>> 23) * 2
  if (isQuiet) return digest + 1
  return digest === 0 ? 2 : digest
}

// Of any word each of both makes another state, and shifts what went up down again. They share neither factor nor
// shift, so that what cancels out in one does not in the other.

function mixLow(state: number, word: number): number {
  const product = Math.imul(state ^ word, 0x9e3779b1)
  return product ^ (product >>> 15)
}

function mixHigh(state: number, word: number): number {
  const product = Math.imul((state + word) | 0, 0x85ebca6b)
  return product ^ (product >>> 13)
}

/** All bytes of a value of one, two or three. */
function shortWord(view: DataView, start: number, length: number): number {
  const middle = view.getUint8(start + (length >>> 1))
  return view.getUint8(start) | (middle << 8) | (view.getUint8(start + length - 1) << 16)
}

function hashOfName(text: Uint8Array): number {
  let hash = firstWord
  for (const byte of text) hash = mixLow(hash, byte)
  return hash
}
