// From a scanned JSON string to the text it stands for. The scanner has proved the string, and its repairs have
// replaced what UTF-8 or a store cannot hold, so nothing here can fail.

import { backslash, hexDigits } from './json-bytes.ts'
import type { Scan } from './scan.ts'
import type { TextArena } from './text-arena.ts'

/** What a letter after a backslash stands for, other than u. */
const escapedBytes = new Uint8Array(256)
for (const letter of '"\\/') escapedBytes[letter.charCodeAt(0)] = letter.charCodeAt(0)
escapedBytes[0x62] = 0x08
escapedBytes[0x66] = 0x0c
escapedBytes[0x6e] = 0x0a
escapedBytes[0x72] = 0x0d
escapedBytes[0x74] = 0x09

/**
 * Writes what stands between the quotes, bytes[start, end), to `target` at `at` as UTF-8. Returns its end.
 * `target` must have room for end - start bytes.
 */
export function unescapeTo(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  let to = at
  for (let from = start; from < end; ) {
    const byte = bytes[from]!
    if (byte !== backslash) {
      target[to++] = byte
      from++
      continue
    }
    const escaped = escapedBytes[bytes[from + 1]!]!
    if (escaped !== 0) {
      target[to++] = escaped
      from += 2
      continue
    }
    let code = hexUnit(bytes, from + 2)
    from += 6
    if (code >= 0xd800 && code <= 0xdbff) {
      // The scanner leaves no half of a pair.
      code = 0x10000 + ((code - 0xd800) << 10) + (hexUnit(bytes, from + 2) - 0xdc00)
      from += 6
    }
    to = writeCodePoint(code, target, to)
  }
  return to
}

/** Appends what stands between the quotes, [start, end) of a text under the scanner. */
export function appendUnescaped({ bytes, view }: Scan, start: number, end: number, target: TextArena): void {
  target.reserve(end - start)
  let from = start
  let to = target.size
  // Names and ids are short and without escapes: four bytes at once up to the first backslash.
  for (; from + 4 <= end; from += 4, to += 4) {
    const word = view.getInt32(from, true)
    const slashes = word ^ 0x5c5c5c5c
    if (((slashes - 0x01010101) & ~slashes & 0x80808080) !== 0) break
    target.view.setInt32(to, word, true)
  }
  target.size = unescapeTo(bytes, from, end, target.bytes, to)
}

/** What stands between the quotes, bytes[start, end), as a string. */
export function unescapeText(bytes: Uint8Array, start: number, end: number): string {
  const target = Buffer.allocUnsafe(end - start)
  return target.toString('utf8', 0, unescapeTo(bytes, start, end, target, 0))
}

function hexUnit(bytes: Uint8Array, at: number): number {
  return (
    (hexDigits[bytes[at]!]! << 12) |
    (hexDigits[bytes[at + 1]!]! << 8) |
    (hexDigits[bytes[at + 2]!]! << 4) |
    hexDigits[bytes[at + 3]!]!
  )
}

function writeCodePoint(code: number, target: Uint8Array, at: number): number {
  if (code < 0x80) {
    target[at] = code
    return at + 1
  }
  if (code < 0x800) {
    target[at] = 0xc0 | (code >>> 6)
    target[at + 1] = 0x80 | (code & 0x3f)
    return at + 2
  }
  if (code < 0x10000) {
    target[at] = 0xe0 | (code >>> 12)
    target[at + 1] = 0x80 | ((code >>> 6) & 0x3f)
    target[at + 2] = 0x80 | (code & 0x3f)
    return at + 3
  }
  target[at] = 0xf0 | (code >>> 18)
  target[at + 1] = 0x80 | ((code >>> 12) & 0x3f)
  target[at + 2] = 0x80 | ((code >>> 6) & 0x3f)
  target[at + 3] = 0x80 | (code & 0x3f)
  return at + 4
}
