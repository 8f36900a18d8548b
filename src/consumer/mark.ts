// What a store remembers of the last record it has applied of a lane, beside its offset: enough to tell whether a
// journal is the one the store was made from, or one that began as a copy of it. Records hold ids and times of their
// own, so that two of them with one checksum in one place are the same record.

import { crc32 } from 'node:zlib'
import type { JournalReader, JournalRecord, Lane, LaneState, Position } from '../journal/journal.ts'
import type { Offset } from './offset.ts'

export interface Mark {
  readonly position: Position
  /** Of the payload. */
  readonly checksum: number
}

/** Null for a lane of which nothing is known. */
export type Marks = Readonly<Record<Lane, Mark | null>>

export function markOf({ position, payload }: JournalRecord): Mark {
  return { position, checksum: crc32(payload) }
}

/**
 * False when the journal has something else where the marked record was, or where the offset says that one begins. What
 * the journal has forgotten, or cannot read, speaks for neither.
 */
export function hasMarked(
  reader: JournalReader,
  lane: Lane,
  { oldest, committed }: LaneState,
  offset: Offset,
  mark: Mark | null,
): boolean {
  if (offset.position < committed && reader.recordAt(lane, offset.position, committed) === 'none')
    return false
  if (mark === null || mark.position < oldest) return true
  const record = reader.recordAt(lane, mark.position, committed)
  if (typeof record === 'string') return record !== 'none'
  return markOf(record).checksum === mark.checksum
}
