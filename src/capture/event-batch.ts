// EventBatch: the one representation of captured events in flight. The same bytes go from a decode thread over the
// main thread into the journal, and out of it into the consumers.
//
// Layout of an encoded batch (little endian; every section starts at a multiple of 8):
//
//   u32 header length | header (msgpack) |
//   uuids        count × 16 bytes
//   born ids     count × 16 bytes     uuidv5 of "<project>:<distinct_id>": the person the event was born to
//   timestamps   count × f64          Micros
//   flags        count × u8           EventFlag bits
//   ends         5 × count × u32      end of each value in its text column, exclusive, without its separator
//   text         5 columns back to back: event, distinct_id, properties, person, elements_chain
//
// In a text column every value is followed by one separator byte 0x1E. JSON text cannot hold a raw 0x1E. The other
// columns can: such an event carries EventFlag.separator, and who splits a column must leave it out.
//
// `properties` is JSON text, an object, as it will be stored. All text is well-formed UTF-8 without NUL.
//
// `person` is all that the persons consumer reads of an event beside the ids, name, time and flags: JSON text, an
// object that holds every key once, or empty when the event is anonymous or has none of these:
//   $set, $set_once         objects, those of the event's top level merged in; absent when they were anything else
//   $unset                  a list of names or an object whose keys are the names, the top level's merged in
//   $groups                 an object
//   $anon_distinct_id       of $identify only; any JSON but null
//   alias                   of $create_alias and $merge_dangerously only; any JSON
//   $group_type, $group_key, $group_set   of $groupidentify only; any JSON
//   mapped properties       those from which $set and $initial_... are derived (event-keys.ts); any JSON
// Values are as sent. $groupidentify has neither $set, $set_once, $unset nor mapped properties; $snapshot has no
// mapped ones.
//
// A change of the layout is a new version; readers accept the current version and the one before.

import { pack, unpack } from 'msgpackr'
import { assert } from '../lib/assert.ts'
import { alignTo8, type Bytes, copyBytes } from '../lib/bytes.ts'
import type { Micros } from '../lib/clock.ts'

export const eventBatchVersion = 1

/** Follows every value of a text column. */
export const separatorByte = 0x1e

/** Bits of an event's flag byte. */
export const EventFlag = {
  /** The sender chose the uuid: a retry can be recognised by it. */
  clientUuid: 1,
  /** `$process_person_profile` is false: no person is stored. */
  anonymous: 2,
  /** The event may connect ids or change a group ($identify, $create_alias, $merge_dangerously, $groupidentify). */
  identity: 4,
  /** The event carries `$groups`. */
  groups: 8,
  /** The event name, distinct_id or elements chain holds the separator byte. */
  separator: 16,
} as const

/** Names of the text columns, in the order of the layout. */
export const textColumnNames = ['event', 'distinctId', 'properties', 'person', 'elementsChain'] as const
export type TextColumnName = (typeof textColumnNames)[number]

export interface EventBatchHeader {
  readonly version: number
  readonly projectId: number
  /** When the request was complete, epoch ms. */
  readonly receivedAtMs: number
  /** When the sender says it sent the request, epoch ms. */
  readonly sentAtMs: number | null
  readonly historical: boolean
  readonly count: number
}

/** One text column of an opened batch: value i is bytes[i === 0 ? 0 : ends[i - 1] + 1] up to ends[i], exclusive. */
export interface TextColumn {
  /** Values and separators, a view on the batch. */
  readonly bytes: Uint8Array
  readonly ends: Uint32Array
}

/** A decoded batch: views on the encoded bytes, nothing copied. */
export interface EventBatch {
  readonly header: EventBatchHeader
  /** 16 bytes an event. */
  readonly uuids: Uint8Array
  /** 16 bytes an event. */
  readonly bornIds: Uint8Array
  readonly timestamps: Float64Array
  readonly flags: Uint8Array
  readonly text: Readonly<Record<TextColumnName, TextColumn>>
}

/** The columns of a batch to encode; `text` holds only the used bytes. */
export interface EventColumns {
  readonly uuids: Uint8Array
  readonly bornIds: Uint8Array
  readonly timestamps: Float64Array
  readonly flags: Uint8Array
  readonly text: Readonly<Record<TextColumnName, TextColumn>>
}

/** Encodes a batch into memory of its own, ready to be moved to another thread. */
export function encodeEventBatch(header: EventBatchHeader, columns: EventColumns): Bytes {
  const { count } = header
  const packed = pack(header)
  const layout = layOut(packed.byteLength, count)
  let size = layout.text
  for (const name of textColumnNames) size += columns.text[name].bytes.byteLength
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, packed.byteLength, true)
  copyBytes(packed, 0, packed.byteLength, bytes, 4)
  copyBytes(columns.uuids, 0, count * 16, bytes, layout.uuids)
  copyBytes(columns.bornIds, 0, count * 16, bytes, layout.bornIds)
  for (let row = 0; row < count; row++)
    view.setFloat64(layout.timestamps + row * 8, columns.timestamps[row]!, true)
  copyBytes(columns.flags, 0, count, bytes, layout.flags)
  let textAt = layout.text
  for (let column = 0; column < textColumnNames.length; column++) {
    // The index is below the length of the constant list.
    const { bytes: values, ends } = columns.text[textColumnNames[column] as TextColumnName]
    const endsAt = layout.ends + column * count * 4
    for (let row = 0; row < count; row++) view.setUint32(endsAt + row * 4, ends[row]!, true)
    copyBytes(values, 0, values.byteLength, bytes, textAt)
    textAt += values.byteLength
  }
  return bytes
}

/**
 * Opens an encoded batch. `bytes` must start at a multiple of 8 in its buffer (the journal reader sees to that).
 * Errors: a programmer error for a version this build does not read; the journal's checksums vouch for the rest.
 */
export function openEventBatch(bytes: Uint8Array): EventBatch {
  assert(bytes.byteOffset % 8 === 0, 'an event batch starts at a multiple of 8')
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  // Written by encodeEventBatch and guarded by the record's checksum.
  const header = unpack(bytes.subarray(4, 4 + headerLength)) as EventBatchHeader
  assert(header.version === eventBatchVersion, `event batch version ${header.version} is known`)
  const { count } = header
  const layout = layOut(headerLength, count)
  const at = bytes.byteOffset
  const text: Partial<Record<TextColumnName, TextColumn>> = {}
  let start = layout.text
  for (let column = 0; column < textColumnNames.length; column++) {
    const ends = new Uint32Array(bytes.buffer, at + layout.ends + column * count * 4, count)
    const size = count === 0 ? 0 : (ends[count - 1] as number) + 1
    text[textColumnNames[column] as TextColumnName] = { bytes: bytes.subarray(start, start + size), ends }
    start += size
  }
  return {
    header,
    uuids: bytes.subarray(layout.uuids, layout.uuids + count * 16),
    bornIds: bytes.subarray(layout.bornIds, layout.bornIds + count * 16),
    timestamps: new Float64Array(bytes.buffer, at + layout.timestamps, count),
    flags: bytes.subarray(layout.flags, layout.flags + count),
    text: text as EventBatch['text'], // the loop above filled every column
  }
}

/** Copies value `index` of a text column out as a string. */
export function textValue(column: TextColumn, index: number): string {
  const start = index === 0 ? 0 : (column.ends[index - 1] as number) + 1
  const end = column.ends[index] as number
  return Buffer.from(column.bytes.buffer, column.bytes.byteOffset + start, end - start).toString('utf8')
}

/** The timestamp of event `index`. */
export function timestampOf(batch: EventBatch, index: number): Micros {
  return batch.timestamps[index] as Micros // the column holds Micros
}

/** Byte offsets of the sections. */
function layOut(headerLength: number, count: number) {
  const uuids = alignTo8(4 + headerLength)
  const bornIds = uuids + count * 16
  const timestamps = bornIds + count * 16
  const flags = timestamps + count * 8
  const ends = alignTo8(flags + count)
  const text = ends + textColumnNames.length * count * 4
  return { uuids, bornIds, timestamps, flags, ends, text }
}
