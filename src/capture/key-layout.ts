// The property names of the event before, in their order. Events of one SDK carry the same names in the same order
// for as long as their kinds agree: a name that is byte for byte the one before needs no scan, no look-up and no
// search for its double. Measured (Node 20, 29 properties): scanning an event takes 2.0 µs without, 1.35 µs with.

import type { Scan } from './scan.ts'

/** Names remembered; those behind are looked up. */
const namesMax = 128

export interface KeyLayout {
  /** Where each name stands in the text, quotes included. None has escapes, and none comes twice. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Number of the known key, or -1. */
  readonly keys: Int16Array
  count: number
}

export function createKeyLayout(): KeyLayout {
  return {
    starts: new Int32Array(namesMax),
    ends: new Int32Array(namesMax),
    keys: new Int16Array(namesMax),
    count: 0,
  }
}

/** Returns the end of the name at `at`, quotes included, when it is the remembered one of this index; else 0. */
export function followLayout(scan: Scan, layout: KeyLayout, index: number, at: number): number {
  if (index >= layout.count) return 0
  const { bytes, view } = scan
  const start = layout.starts[index]!
  const length = layout.ends[index]! - start
  if (at + length > scan.end) return 0
  let offset = 0
  for (; offset + 4 <= length; offset += 4) {
    if (view.getInt32(at + offset, true) !== view.getInt32(start + offset, true)) return 0
  }
  for (; offset < length; offset++) if (bytes[at + offset] !== bytes[start + offset]) return 0
  return at + length
}

/** Remembers the name at [start, end), quotes included, as the one of this index, if those before are remembered. */
export function extendLayout(
  layout: KeyLayout,
  index: number,
  start: number,
  end: number,
  key: number,
): void {
  if (index !== layout.count || index === namesMax) return
  layout.starts[index] = start
  layout.ends[index] = end
  layout.keys[index] = key
  layout.count++
}
