// The journal as its users see it: append and wait until it is on disk; read what is on disk, in order.
//
// Two lanes, each a journal of its own. A position is a byte address in its lane: it only grows and is never used
// twice. A chain is the list of parts of one request: all of them count, or none.

import type { Bytes } from '../lib/bytes.ts'
import type { Parcel } from './parcel.ts'

export const lanes = ['realtime', 'historical'] as const
/** Realtime events never wait behind a bulk import. */
export type Lane = (typeof lanes)[number]

/** Byte address in a lane, an integer below 2^53. */
export type Position = number & { readonly __unit: 'Position' }

export type RecordKind = 'events' | 'command'

/** One part to append. */
export interface JournalPart {
  readonly kind: RecordKind
  /** Opaque to the journal. In memory of its own, which is moved: do not touch it after. */
  readonly payload: Bytes
  readonly eventCount: number
  /** Two words an event, both 0 for an event that is never a duplicate; null for a command. */
  readonly dedupKeys: Uint32Array<ArrayBuffer> | null
}

/** Where a chain came to stand. */
export interface Appended {
  readonly position: Position
  /** Position after the chain's last part. */
  readonly end: Position
  /** Events flagged as duplicates of one appended before. */
  readonly duplicateCount: number
}

/** A record as read back. */
export interface JournalRecord {
  readonly position: Position
  /** Position of the next record. */
  readonly end: Position
  readonly kind: RecordKind
  readonly eventCount: number
  /** One bit an event, lowest bit of the first byte first; null when no event is a duplicate. */
  readonly duplicates: Uint8Array | null
  /** Starts at a multiple of 8 in its buffer. */
  readonly payload: Uint8Array
}

/** A damaged stretch of the journal that was set aside: the events in it are lost to the stores. */
export interface JournalGap {
  readonly position: Position
  readonly end: Position
}

export interface JournalState {
  /** Name of this lineage of the journal, a uuid: stores refuse to continue another one. */
  readonly epoch: string
  readonly lanes: Readonly<Record<Lane, LaneState>>
}

export interface LaneState {
  /** First position that can still be read. */
  readonly oldest: Position
  /** Everything before it is on disk. */
  readonly committed: Position
  /** Bytes handed over and not yet on disk. */
  readonly queuedBytes: number
  /** Bytes of all segment files. */
  readonly storedBytes: number
  readonly damagedBytes: number
  /** The disk has no room: appends are refused with journal_full until it has again. */
  readonly isFull: boolean
  /** Groups written and synced since the start, and the time that took. */
  readonly commitCount: number
  readonly commitMsTotal: number
}

/** The writing side, used by the main thread. */
export interface Journal {
  /**
   * Appends one chain, whose memory is moved, and resolves when all of it is on disk. Chains land in the order of the
   * calls.
   * Errors: journal_full (queue or disk full; nothing of the chain counts; retry later), journal_failed (the disk
   * failed; the journal is closed for good and the process should end).
   */
  append(lane: Lane, chain: readonly JournalPart[] | Parcel): Promise<Appended>
  state(): JournalState
  /** Calls `listener` whenever a lane's committed position has grown. */
  onCommitted(listener: (lane: Lane, committed: Position) => void): void
  /** Calls `listener` once when a lane has failed (journal_failed). */
  onFailed(listener: (error: Error) => void): void
  /** Allows everything before `position` to be deleted, as far as the retention settings want it gone. */
  release(lane: Lane, position: Position): void
  /** Commits what is queued and closes. Appends after it are refused with `stopping`. */
  close(): Promise<void>
}

/** What a read returns: whole records in order, never past `upTo`. */
export interface JournalChunk {
  readonly records: readonly JournalRecord[]
  readonly gaps: readonly JournalGap[]
  /** Where to go on reading. */
  readonly next: Position
}

/** The reading side, used by a consumer in its own thread. */
export interface JournalReader {
  /**
   * Reads records of `lane` from `from` up to the committed position `upTo`, at least one record if there is one and
   * about `bytesMax` bytes at most. Without a record before `upTo`, `next` is `upTo`.
   * Errors: a programmer error when `from` is before the oldest segment.
   */
  read(lane: Lane, from: Position, upTo: Position, bytesMax: number): JournalChunk
  /**
   * The record that begins at `position`, which is before the committed position `upTo`: none when another one lies
   * over it, unknown when what lies there is damaged, a seal, or forgotten.
   */
  recordAt(lane: Lane, position: Position, upTo: Position): JournalRecord | 'none' | 'unknown'
  /** Tells the reader that nobody looks at the records read so far any more: it may use their memory again. */
  takeBack(): void
  close(): void
}
