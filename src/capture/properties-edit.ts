// The one editor of properties: copies the text of the object, leaves entries out and puts entries in, and re-prints
// nothing, so that 12345678901234567890 and 1.10 stay what they were.

import { keyCount, keyTexts } from './event-keys.ts'
import { closeBrace, comma, openBrace } from './json-bytes.ts'
import { holdsKey, type KeySet, shareKeys } from './key-set.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'

/** By key: where the value of a property that was put in starts in the text that was written. */
export type KeyPlaces = Int32Array

/** Where the stretches of text that were copied went, in their order. */
export interface Stretches {
  count: number
  /** Where each starts in the source, and what its bytes moved by. */
  readonly starts: Int32Array
  readonly moves: Int32Array
}

export function createKeyPlaces(): KeyPlaces {
  return new Int32Array(keyCount)
}

export function createStretches(): Stretches {
  return { count: 0, starts: new Int32Array(keyCount), moves: new Int32Array(keyCount) }
}

/** Where what stood at `at` of the source, and stayed, was copied to. */
export function placeOf({ count, starts, moves }: Stretches, at: number): number {
  let index = count - 1
  while (index > 0 && starts[index]! > at) index--
  return at + moves[index]!
}

/**
 * Appends the properties object at [start, end), without what `removed` holds and without its closing brace:
 * insertEntry may follow, closeProperties must. The object holds no key twice. `stretches` are told of what was copied.
 * Returns how many entries stayed.
 */
export function copyProperties(
  bytes: Uint8Array,
  spans: EventSpans,
  start: number,
  end: number,
  removed: KeySet,
  stretches: Stretches,
  target: TextArena,
): number {
  let count = spans.propertyCount
  stretches.count = 0
  let from = start
  const empty = target.size + 1
  target.reserve(end - start + 1)
  const entryCount = shareKeys(spans.met, removed) ? spans.entryCount : 0
  for (let index = 0; index < entryCount; index++) {
    const key = spans.entryKeys[index]!
    if (!holdsKey(removed, key)) continue
    const before = spans.befores[key]!
    if (before > from) appendStretch(bytes, from, before, stretches, target)
    from = spans.ends[key]!
    // The comma behind an entry goes with it when nothing stays before it, else the one in front does.
    if (target.size === empty) from = afterComma(bytes, from)
    count--
  }
  if (count === 0) {
    target.size = empty - 1
    target.put(openBrace)
  } else appendStretch(bytes, from, end - 1, stretches, target)
  return count
}

function appendStretch(
  bytes: Uint8Array,
  start: number,
  end: number,
  stretches: Stretches,
  target: TextArena,
): void {
  stretches.starts[stretches.count] = start
  stretches.moves[stretches.count++] = target.size - start
  target.append(bytes, start, end)
}

/** Appends `"key":` and its value, source[start, end), after `count` other entries. Returns the new count. */
export function insertEntry(
  target: TextArena,
  count: number,
  key: number,
  source: Uint8Array,
  start: number,
  end: number,
): number {
  const keyText = keyTexts[key]!
  target.reserve(keyText.length + end - start + 1)
  if (count > 0) target.put(comma)
  target.append(keyText, 0, keyText.length)
  target.append(source, start, end)
  return count + 1
}

/** Appends `entries`, one or more with commas between them, after `count` others. */
export function insertEntries(target: TextArena, count: number, entries: Uint8Array): void {
  target.reserve(entries.length + 1)
  if (count > 0) target.put(comma)
  target.append(entries, 0, entries.length)
}

export function closeProperties(target: TextArena): void {
  target.reserve(1)
  target.put(closeBrace)
}

/** The place behind the comma that follows an entry at `at`, or `at` when the object ends there. */
function afterComma(bytes: Uint8Array, at: number): number {
  let place = at
  while (bytes[place]! <= 0x20) place++
  return bytes[place] === comma ? place + 1 : at
}
