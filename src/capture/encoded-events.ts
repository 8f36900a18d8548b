// The events of one or more requests on their way to the journal: a chain of records, and who is in them.

import type { TransferListItem } from 'node:worker_threads'
import type { JournalPart } from '../journal/journal.ts'
import { type Parcel, pack } from '../journal/parcel.ts'
import type { Bytes } from '../lib/bytes.ts'
import type { EncodedPart } from './capture-task.ts'

export interface EncodedEvents {
  /** Packed when it is large and comes from another thread. */
  readonly chain: readonly JournalPart[] | Parcel
  /** Of all records. */
  readonly identityBornIds: Bytes
}

/** Of a smaller chain the main thread's collector hardly notices, and a port costs 50 µs (bytes). */
const packedBytesMin = 4 * 1024 * 1024

/** Null when there are no parts. */
export function encodedEvents(parts: readonly EncodedPart[]): EncodedEvents | null {
  return parts.length === 0 ? null : { chain: chainOf(parts), identityBornIds: bornIdsOf(parts) }
}

/** The same for another thread. What moves there is added to `moved`. */
export function eventsToMove(parts: readonly EncodedPart[], moved: TransferListItem[]): EncodedEvents | null {
  const bytes = parts.reduce((sum, { payload }) => sum + payload.byteLength, 0)
  if (bytes >= packedBytesMin) {
    const parcel = pack(chainOf(parts))
    moved.push(parcel.port)
    return { chain: parcel, identityBornIds: bornIdsOf(parts) }
  }
  for (const { payload, dedupKeys } of parts) moved.push(payload.buffer, dedupKeys.buffer)
  return encodedEvents(parts)
}

function chainOf(parts: readonly EncodedPart[]): JournalPart[] {
  return parts.map(({ payload, eventCount, dedupKeys }) => ({
    kind: 'events',
    payload,
    eventCount,
    dedupKeys,
  }))
}

function bornIdsOf(parts: readonly EncodedPart[]): Bytes {
  if (parts.length === 1) return parts[0]!.identityBornIds
  return new Uint8Array(Buffer.concat(parts.map((part) => part.identityBornIds)))
}
