// The frame of one journal record: pure bytes, no files.
//
// Layout (little endian; a frame starts and ends at a multiple of 8 in its segment):
//
//    0  u32  crc32 of bytes 4…23 and the body, seeded with the segment's salt; of a tagged body, up to its tag
//    4  u32  body bytes, without the padding
//    8  u64  position: a record that was written to the wrong place, or twice, is not valid there
//   16  u8   kind (events 1, command 2, seal 3)
//   17  u8   flags (FrameFlag)
//   18  u16  low bits of where the frame starts in its group commit, in units of 8 bytes
//   20  u24  event count
//   23  u8   high bits of where it starts
//   24  body: dedup keys      8 bytes an event, present with FrameFlag.keys
//             duplicates      one bit an event, padded to 8 bytes, present with FrameFlag.duplicates
//             tag             16 bytes that speak for the payload (payload-tag.ts), present with FrameFlag.tagged
//             payload
//       zero bytes up to the next multiple of 8
//
// A seal is a frame without body: the clean end of a segment. Before it, seals with a body of zeros take the place of
// what recovery has cut, so that its positions are not used again. A chain is a run of frames that all but the last
// carry FrameFlag.chainGoesOn. In segments of format version 1 no frame is tagged, and before version 3 every frame
// says that it starts its group.

import { crc32 } from 'node:zlib'
import { alignTo8 } from '../lib/bytes.ts'
import type { JournalRecord, Position, RecordKind } from './journal.ts'
import { tagBytes, tagOf } from './payload-tag.ts'

const MiB = 1024 * 1024

export const frameHeaderBytes = 24
/** A longer length in a header is damage; it bounds what a reader allocates. */
export const bodyBytesMax = 64 * MiB
export const eventCountMax = 2 ** 24 - 1
/** A frame starts before this in its group: 24 bits of units of 8. */
export const groupOffsetMax = 2 ** 27

/** Bits of a frame's flag byte. */
export const FrameFlag = { keys: 1, duplicates: 2, chainGoesOn: 4, tagged: 8 } as const

export const kindCodes = { events: 1, command: 2, seal: 3 } as const
type KindCode = (typeof kindCodes)[keyof typeof kindCodes]

/** A record with what only the journal itself reads. */
export interface RecordFrame extends JournalRecord {
  /** Where the group commit begins that the frame was written with: what is before was on disk already. */
  readonly groupStart: Position
  /** Two words an event, both 0 for an event without a key; null when no event has one. */
  readonly dedupKeys: Uint32Array | null
  readonly chainGoesOn: boolean
}

export interface SealFrame {
  readonly kind: 'seal'
  readonly position: Position
  readonly groupStart: Position
  readonly end: Position
}

export type Frame = RecordFrame | SealFrame

/** Bytes of the duplicate bits of `eventCount` events. */
export function duplicateBytes(eventCount: number): number {
  return alignTo8((eventCount + 7) >>> 3)
}

/** Bytes that a frame with a body of `bodyBytes` takes in its segment. */
export function frameBytes(bodyBytes: number): number {
  return alignTo8(frameHeaderBytes + bodyBytes)
}

/** Writes a frame's header at `at`, all but the checksum; `groupOffset` is how far in its group it starts. */
export function writeFrameHeader(
  view: DataView,
  at: number,
  bodyBytes: number,
  position: number,
  kind: KindCode,
  flags: number,
  eventCount: number,
  groupOffset: number,
): void {
  view.setUint32(at + 4, bodyBytes, true)
  view.setUint32(at + 8, position >>> 0, true)
  view.setUint32(at + 12, Math.floor(position / 0x1_0000_0000), true)
  view.setUint8(at + 16, kind)
  view.setUint8(at + 17, flags)
  const groupUnits = groupOffset / 8
  view.setUint16(at + 18, groupUnits & 0xffff, true)
  view.setUint32(at + 20, eventCount | ((groupUnits >>> 16) << 24), true)
}

/**
 * Goes on with `checksum` over `bytes`. zlib takes empty memory of its own for "begin anew" and answers 0, whatever
 * came before.
 */
export function checksumOn(bytes: Uint8Array, checksum: number): number {
  return bytes.byteLength === 0 ? checksum : crc32(bytes, checksum)
}

/** The checksum of the header at `at`; go on over the body. */
export function headerChecksum(bytes: Uint8Array, at: number, salt: number): number {
  return crc32(bytes.subarray(at + 4, at + frameHeaderBytes), salt)
}

/** The frame that ends a segment, or one of `size` bytes that fills a place in front of it. */
export function encodeSeal(position: number, salt: number, size = frameHeaderBytes): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  writeFrameHeader(view, 0, size - frameHeaderBytes, position, kindCodes.seal, 0, 0, 0)
  const checksum = headerChecksum(bytes, 0, salt)
  view.setUint32(0, checksumOn(bytes.subarray(frameHeaderBytes), checksum), true)
  return bytes
}

/**
 * Looks for a valid frame of `position` at `at`, where `available` bytes are at hand. Returns its size with padding;
 * 0 when there is none; minus its size when the header is plausible but more bytes are needed to tell.
 */
export function checkFrame(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  available: number,
  position: number,
  salt: number,
): number {
  if (available < frameHeaderBytes || !standsAt(view, at, position)) return 0
  const bodyBytes = view.getUint32(at + 4, true)
  const kind = view.getUint8(at + 16)
  if (bodyBytes > bodyBytesMax || kind < kindCodes.events || kind > kindCodes.seal) return 0
  const offset = payloadOffset(view, at)
  if (bodyBytes < offset) return 0
  const size = frameBytes(bodyBytes)
  if (size > available) return -size
  const body = bytes.subarray(at + frameHeaderBytes, at + frameHeaderBytes + bodyBytes)
  const isTagged = (view.getUint8(at + 17) & FrameFlag.tagged) !== 0
  const covered = isTagged ? body.subarray(0, offset) : body
  if (checksumOn(covered, headerChecksum(bytes, at, salt)) !== view.getUint32(at, true)) return 0
  if (!isTagged) return size
  const tag = body.subarray(offset - tagBytes, offset)
  return Buffer.compare(tagOf(body.subarray(offset)), tag) === 0 ? size : 0
}

/** True when the header at `at` names `position`: the cheap test when looking for the next valid frame. */
export function standsAt(view: DataView, at: number, position: number): boolean {
  return (
    view.getUint32(at + 8, true) === position >>> 0 &&
    view.getUint32(at + 12, true) === Math.floor(position / 0x1_0000_0000)
  )
}

/** The size, with padding, that the header at `at` claims; nothing is checked. */
export function frameBytesAt(view: DataView, at: number): number {
  return frameBytes(view.getUint32(at + 4, true))
}

/** Reads the frame at `at`, which checkFrame found valid; its fields are views on `bytes`. */
export function readFrame(bytes: Uint8Array, view: DataView, at: number): Frame {
  // A valid frame was written by a lane, whose positions they are.
  const position = (view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * 0x1_0000_0000) as Position
  const bodyBytes = view.getUint32(at + 4, true)
  const end = (position + frameBytes(bodyBytes)) as Position
  const kind = view.getUint8(at + 16)
  const groupStart = (position - groupOffsetAt(view, at)) as Position
  if (kind === kindCodes.seal) return { kind: 'seal', position, end, groupStart }
  const flags = view.getUint8(at + 17)
  const eventCount = eventCountAt(view, at)
  const body = at + frameHeaderBytes
  const keyBytes = flags & FrameFlag.keys ? eventCount * 8 : 0
  return {
    position,
    end,
    groupStart,
    kind: kind === kindCodes.events ? 'events' : ('command' satisfies RecordKind),
    eventCount,
    dedupKeys: keyBytes ? new Uint32Array(bytes.buffer, bytes.byteOffset + body, eventCount * 2) : null,
    duplicates:
      flags & FrameFlag.duplicates
        ? bytes.subarray(body + keyBytes, body + keyBytes + ((eventCount + 7) >>> 3))
        : null,
    chainGoesOn: (flags & FrameFlag.chainGoesOn) !== 0,
    payload: bytes.subarray(body + payloadOffset(view, at), body + bodyBytes),
  }
}

function eventCountAt(view: DataView, at: number): number {
  return view.getUint32(at + 20, true) & eventCountMax
}

function groupOffsetAt(view: DataView, at: number): number {
  return (view.getUint16(at + 18, true) | (view.getUint8(at + 23) << 16)) * 8
}

/** Where the payload starts in the body of the frame whose header is at `at`. */
function payloadOffset(view: DataView, at: number): number {
  const flags = view.getUint8(at + 17)
  const eventCount = eventCountAt(view, at)
  let offset = flags & FrameFlag.keys ? eventCount * 8 : 0
  if (flags & FrameFlag.duplicates) offset += duplicateBytes(eventCount)
  if (flags & FrameFlag.tagged) offset += tagBytes
  return offset
}
