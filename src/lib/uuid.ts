// UUIDs as 16 bytes in somebody's column: parse and print them, make random ones (version 7), derive a person's
// (version 5). Nothing here allocates per UUID except the text that formatUuid returns.

import { randomFillSync } from 'node:crypto'
import { paddedLength, sha1 } from './sha1.ts'

const uuidBytes = 16
const hyphen = 0x2d

/** Value of a hexadecimal digit; negative for any other byte. */
const hexValues = new Int8Array(256).fill(-1)
for (let value = 0; value < 16; value++) {
  hexValues[value.toString(16).charCodeAt(0)] = value
  hexValues[value.toString(16).toUpperCase().charCodeAt(0)] = value
}
const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Parses `bytes[start, end)` into `target` at `at`. Accepts what Rust's uuid crate does, which judges uuids for the
 * public API: simple, hyphenated, `{hyphenated}`, `urn:uuid:hyphenated`, digits of any case, any version.
 * Returns false when it is none of them; `target` is then undefined at these 16 bytes.
 */
export function parseUuid(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): boolean {
  switch (end - start) {
    case 36:
      return parseHyphenated(bytes, start, target, at)
    case 32:
      return parseDigits(bytes, start, 16, target, at)
    case 38:
      return bytes[start] === 0x7b && bytes[end - 1] === 0x7d && parseHyphenated(bytes, start + 1, target, at)
    case 45:
      return startsWithUrn(bytes, start) && parseHyphenated(bytes, start + urn.length, target, at)
    default:
      return false
  }
}

/** The same for a string. */
export function parseUuidText(text: string, target: Uint8Array, at: number): boolean {
  if (text.length > textScratch.length) return false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) return false
    textScratch[index] = unit
  }
  return parseUuid(textScratch, 0, text.length, target, at)
}

/** Prints the 16 bytes at `at` hyphenated, in lower case. */
export function formatUuid(bytes: Uint8Array, at: number): string {
  let text = ''
  for (let index = 0; index < uuidBytes; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += '-'
    text += hexPairs[bytes[at + index]!]
  }
  return text
}

/** Writes a UUID of version 7 for `timeMs` (epoch ms, not negative). Those of one millisecond have no order. */
export function writeUuidV7(timeMs: number, target: Uint8Array, at: number): void {
  if (randomAt + 10 > random.length) {
    randomFillSync(random)
    randomAt = 0
  }
  const high = Math.floor(timeMs / 2 ** 32)
  const low = timeMs >>> 0
  target[at] = high >>> 8
  target[at + 1] = high
  target[at + 2] = low >>> 24
  target[at + 3] = low >>> 16
  target[at + 4] = low >>> 8
  target[at + 5] = low
  for (let index = 6; index < uuidBytes; index++) target[at + index] = random[randomAt++]!
  target[at + 6] = 0x70 | (target[at + 6]! & 0x0f)
  target[at + 8] = 0x80 | (target[at + 8]! & 0x3f)
}

/** Time of the last UUID that was made as text, and how many of that millisecond came before it. */
let lastMs = -1
let sameMsCount = 0

/**
 * Makes the text of a UUID of version 7 for `timeMs`. Up to 4,096 that are made one after the other for the same
 * millisecond sort in that order.
 */
export function makeUuidV7(timeMs: number): string {
  sameMsCount = timeMs === lastMs ? sameMsCount + 1 : 0
  lastMs = timeMs
  writeUuidV7(timeMs, uuidScratch, 0)
  uuidScratch[6] = 0x70 | ((sameMsCount >>> 8) & 0x0f)
  uuidScratch[7] = sameMsCount
  return formatUuid(uuidScratch, 0)
}

/**
 * Writes the id of the person that `distinctId[start, end)` (UTF-8) is born to: the UUID of version 5 of
 * "<project>:<distinct_id>" under a fixed namespace.
 */
export function writeBornId(
  projectId: number,
  distinctId: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): void {
  if (projectId !== bornProjectId) prepareBornText(projectId)
  const length = bornPrefixBytes + end - start
  if (paddedLength(length) > bornText.length) growBornText(paddedLength(length))
  for (let from = start, to = bornPrefixBytes; from < end; ) bornText[to++] = distinctId[from++]!
  sha1(bornText, length, bornDigest)
  for (let word = 0; word < 4; word++) {
    const value = bornDigest[word]!
    target[at + word * 4] = value >>> 24
    target[at + word * 4 + 1] = value >>> 16
    target[at + word * 4 + 2] = value >>> 8
    target[at + word * 4 + 3] = value
  }
  target[at + 6] = 0x50 | (target[at + 6]! & 0x0f)
  target[at + 8] = 0x80 | (target[at + 8]! & 0x3f)
}

// Room for "urn:uuid:" and a hyphenated UUID, the longest form.
const textScratch = new Uint8Array(45)
const uuidScratch = new Uint8Array(uuidBytes)

// Random bytes are drawn 4 KiB at a time: a call for ten of them costs 40 times as much per byte.
const random = new Uint8Array(4096)
let randomAt = random.length

// The hashed text of the last project: namespace, "<project>:", then each distinct_id in turn. A distinct_id of 200
// characters fits without growing.
const bornNamespace = '932979b4-65c3-4424-8467-0b66ec27bc22'
let bornText = new Uint8Array(1024)
let bornPrefixBytes = 0
let bornProjectId = -1
const bornDigest = new Int32Array(5)

function prepareBornText(projectId: number): void {
  parseUuidText(bornNamespace, bornText, 0)
  bornPrefixBytes = uuidBytes
  for (const character of `${projectId}:`) bornText[bornPrefixBytes++] = character.charCodeAt(0)
  bornProjectId = projectId
}

function growBornText(bytesMin: number): void {
  const grown = new Uint8Array(Math.max(bytesMin, bornText.length * 2))
  grown.set(bornText)
  bornText = grown
}

function parseHyphenated(bytes: Uint8Array, start: number, target: Uint8Array, at: number): boolean {
  return (
    bytes[start + 8] === hyphen &&
    bytes[start + 13] === hyphen &&
    bytes[start + 18] === hyphen &&
    bytes[start + 23] === hyphen &&
    parseDigits(bytes, start, 4, target, at) &&
    parseDigits(bytes, start + 9, 2, target, at + 4) &&
    parseDigits(bytes, start + 14, 2, target, at + 6) &&
    parseDigits(bytes, start + 19, 2, target, at + 8) &&
    parseDigits(bytes, start + 24, 6, target, at + 10)
  )
}

/** Parses `count` pairs of digits. */
function parseDigits(
  bytes: Uint8Array,
  start: number,
  count: number,
  target: Uint8Array,
  at: number,
): boolean {
  let faults = 0
  for (let index = 0; index < count; index++) {
    const high = hexValues[bytes[start + index * 2]!]!
    const low = hexValues[bytes[start + index * 2 + 1]!]!
    faults |= high | low
    target[at + index] = (high << 4) | low
  }
  return faults >= 0
}

const urn = 'urn:uuid:'

function startsWithUrn(bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < urn.length; index++)
    if (bytes[start + index] !== urn.charCodeAt(index)) return false
  return true
}
