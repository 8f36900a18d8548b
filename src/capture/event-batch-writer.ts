// Encodes event batches: event-batch.ts describes the bytes. One writer serves a thread for all its batches; what it
// gathers them in is used again.

import { pack } from 'msgpackr'
import { type Bytes, copyBytes } from '../lib/bytes.ts'
import { type EventBatchHeader, layOut, sizesBytes, type TextColumnName } from './event-batch.ts'
import { SharedTexts } from './shared-texts.ts'
import { TextArena } from './text-arena.ts'
import { putVarint, varintBytesMax } from './varint.ts'

/** A text column to encode: value i is bytes[i === 0 ? 0 : ends[i - 1] + 1] up to ends[i], a separator behind it. */
export interface WrittenColumn {
  /** Only what is used. */
  readonly bytes: Uint8Array
  readonly ends: Uint32Array
}

/** The columns of a batch to encode, perhaps with room for more rows. */
export interface EventColumns {
  readonly uuids: Uint8Array
  readonly bornIds: Uint8Array
  readonly timestamps: Float64Array
  /** person-digest.ts; 0 where no digest tells what the event says of its person. */
  readonly digests: Float64Array
  readonly flags: Uint8Array
  /** How far before the end of its properties an event's distinct_id stands in them; 0 where it does not. */
  readonly idDistances: Uint32Array
  readonly text: Readonly<Record<TextColumnName, WrittenColumn>>
}

/** Memory kept between batches. */
const keptBytes = 1024 * 1024

const shared = new SharedTexts()
const places = new TextArena(16 * 1024)
const person = new TextArena(16 * 1024)

/** Encodes a batch into memory of its own, ready to be moved to another thread. */
export function encodeEventBatch(header: EventBatchHeader, columns: EventColumns): Bytes {
  const { count } = header
  const { properties, elementsChain } = columns.text
  shared.clear()
  places.clear(keptBytes)
  person.clear(keptBytes)
  for (let row = 0; row < count; row++) writePlaces(columns, row)
  const packed = pack(header)
  const layout = layOut(header.version, packed.byteLength, count)
  const texts = layout.behind + sizesBytes
  const sizes = [places.size, shared.arena.size, person.size, properties.bytes.byteLength] as const
  const size = texts + sizes[0] + sizes[1] + sizes[2] + sizes[3] + elementsChain.bytes.byteLength
  // Every byte is written below, those between columns too: a megabyte set to 0 takes 0.1 µs an event.
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, packed.byteLength, true)
  copyBytes(packed, 0, packed.byteLength, bytes, 4)
  bytes.fill(0, 4 + packed.byteLength, layout.uuids)
  copyBytes(columns.uuids, 0, count * 16, bytes, layout.uuids)
  copyBytes(columns.bornIds, 0, count * 16, bytes, layout.bornIds)
  for (let row = 0; row < count; row++) {
    view.setFloat64(layout.timestamps + row * 8, columns.timestamps[row]!, true)
    view.setFloat64(layout.digests + row * 8, columns.digests[row]!, true)
  }
  copyBytes(columns.flags, 0, count, bytes, layout.flags)
  bytes.fill(0, layout.flags + count, layout.behind)
  for (let index = 0; index < 4; index++) view.setUint32(layout.behind + index * 4, sizes[index]!, true)
  let at = texts
  for (const { bytes: source, size: used } of [places, shared.arena, person]) {
    copyBytes(source, 0, used, bytes, at)
    at += used
  }
  copyBytes(properties.bytes, 0, properties.bytes.byteLength, bytes, at)
  copyBytes(elementsChain.bytes, 0, elementsChain.bytes.byteLength, bytes, at + sizes[3])
  return bytes
}

/** Writes the places of one event, and its texts that may be shared. */
function writePlaces({ text, idDistances }: EventColumns, row: number): void {
  places.reserve(5 * varintBytesMax)
  putVarint(places, lengthOf(text.properties, row))
  const { event, distinctId } = text
  shared.write(event.bytes, startOf(event, row), event.ends[row]!, 0, 1, places)
  const distance = idDistances[row]!
  if (distance === 0) {
    shared.write(distinctId.bytes, startOf(distinctId, row), distinctId.ends[row]!, 1, 2, places)
  } else {
    putVarint(places, distance * 2 + 1)
    putVarint(places, lengthOf(distinctId, row))
  }
  places.reserve(2 * varintBytesMax)
  putVarint(places, lengthOf(text.elementsChain, row))
  const pieces = lengthOf(text.person, row)
  putVarint(places, pieces)
  person.reserve(pieces)
  person.append(text.person.bytes, startOf(text.person, row), text.person.ends[row]!)
}

function lengthOf(column: WrittenColumn, row: number): number {
  return column.ends[row]! - startOf(column, row)
}

function startOf({ ends }: WrittenColumn, row: number): number {
  return row === 0 ? 0 : ends[row - 1]! + 1
}
