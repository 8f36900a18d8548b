// The event names that mean something to capture.

import { buildKeyIndex, findKey, sampleKey } from './key-index.ts'

/** Numbers of the known event names, by name. */
export const EventName = {
  $identify: 0,
  $create_alias: 1,
  $merge_dangerously: 2,
  $groupidentify: 3,
  // Up to here they connect ids or change a group.
  $pageview: 4,
  $screen: 5,
  'survey sent': 6,
  'survey shown': 7,
  'survey dismissed': 8,
  $feature_flag_called: 9,
  $performance_event: 10,
  $$client_ingestion_warning: 11,
  $snapshot: 12,
  $set: 13,
  $exception: 14,
  $$heatmap: 15,
} as const

const eventNameIndex = buildKeyIndex(Object.keys(EventName), 0)

/** The number of the event name at [start, end), unescaped, or -1. */
export function findEventName(bytes: Uint8Array, start: number, end: number): number {
  return findKey(eventNameIndex, bytes, start, end, sampleKey(bytes, start, end))
}

/** The event needs person processing: without it, it is dropped. */
export function isIdentityEvent(name: number): boolean {
  return name >= EventName.$identify && name <= EventName.$groupidentify
}

/** Stored names are cut to this many UTF-16 units, without splitting a character. */
const nameUnitsMax = 200

/** Where the name that starts at `start` ends when it is cut to the length that is stored. */
export function endOfName(bytes: Uint8Array, start: number, end: number): number {
  if (end - start <= nameUnitsMax) return end
  let units = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if ((byte & 0xc0) === 0x80) continue
    // Characters of four bytes are those of two units.
    units += byte >= 0xf0 ? 2 : 1
    if (units > nameUnitsMax) return at
  }
  return end
}
