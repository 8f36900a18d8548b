// Digests of what events say of persons. Most events repeat what the one before said: a digest that a person has seen
// means that the event changes nothing, and its person column is not read at all.
//
// Left out are the values of suppressed properties that come from the event itself ($current_url, $browser, …): when
// the person has seen the same event with other values, it has these properties, and a new value alone is no reason to
// write (suppression.ts). So a visitor who goes from page to page repeats himself.

import type { EventBatch } from '../capture/event-batch.ts'
import { createPieces, nextPiece, openPieces } from '../capture/person-pieces.ts'
import { suppressedKeys } from './suppression.ts'

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const hashSeed = 0x811c9dc5
const hashFactor = 0x01000193

/**
 * Hashes of the keys whose values do not count, each in the first free slot from that of its low bits on; 0 is a free
 * one. `$os_name` counts: an empty one derives nothing.
 */
const skippedSlots = new Int32Array(256)
for (const key of suppressedKeys) {
  const hash = hashOfKey(key)
  let slot = slotOf(hash)
  while (skippedSlots[slot] !== 0) slot = nextSlot(slot)
  if (key !== '$os_name') skippedSlots[slot] = hash
}

/** Digests are below 2 to the power of this. An event looks like one of the three before it once in 7e11 times. */
export const digestBits = 42

/** Whether an event with this digest says nothing but what is suppressed. */
export function isQuiet(digest: number): boolean {
  return digest % 2 === 1
}

/** The digest of event `index`, at least 1; `countsAll` leaves nothing out. */
export function columnDigest(batch: EventBatch, index: number, countsAll: boolean): number {
  let low = hashSeed
  let high = countsAll ? 1 : 2
  let isQuiet = !countsAll
  openPieces(pieces, batch, index)
  while (nextPiece(pieces)) {
    const { bytes, end } = pieces
    // Members with a comma between them, compact on this level: "key":value,"key":value
    for (let at = pieces.start; at < end; ) {
      let key = hashSeed
      for (at++; at < end && bytes[at] !== quote; at++) key = Math.imul(key ^ bytes[at]!, hashFactor)
      low = Math.imul(low ^ key, hashFactor)
      high = Math.imul(high ^ key, 0x5bd1e995)
      at += 2
      const valueEnd = endOfValue(bytes, at, end)
      if (countsAll || !isSkipped(key)) {
        isQuiet = false
        for (; at < valueEnd; at++) {
          low = Math.imul(low ^ bytes[at]!, hashFactor)
          high = Math.imul(high, 0x5bd1e995) + bytes[at]! + (high >>> 15)
        }
      }
      at = valueEnd + 1
    }
  }
  // The last bytes have reached the low bits of `high` only.
  high = Math.imul(high ^ (high >>> 15), hashFactor)
  return (low >>> 0) * 0x400 + (isQuiet ? (high >>> 22) | 1 : (high >>> 22) & ~1 || 2)
}

const pieces = createPieces()

function isSkipped(key: number): boolean {
  let slot = slotOf(key)
  while (skippedSlots[slot] !== 0 && skippedSlots[slot] !== key) slot = nextSlot(slot)
  return skippedSlots[slot] === key
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 16)) & (skippedSlots.length - 1)
}

function nextSlot(slot: number): number {
  return (slot + 1) & (skippedSlots.length - 1)
}

function hashOfKey(key: string): number {
  let hash = hashSeed
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, hashFactor)
  return hash
}

/** Behind the value that starts at `at`; at `end` at the latest, whatever stands there. */
function endOfValue(bytes: Uint8Array, at: number, end: number): number {
  let depth = 0
  for (let place = at; place < end; place++) {
    switch (bytes[place]) {
      case quote:
        for (place++; place < end && bytes[place] !== quote; place++) if (bytes[place] === backslash) place++
        if (depth === 0) return Math.min(place + 1, end)
        break
      case openBrace:
      case openBracket:
        depth++
        break
      case closeBrace:
      case closeBracket:
        if (depth === 0) return place
        if (--depth === 0) return place + 1
        break
      case comma:
        if (depth === 0) return place
    }
  }
  return end
}
