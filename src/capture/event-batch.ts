// EventBatch: the one representation of captured events in flight. The same bytes go from a decode thread over the
// main thread into the journal, and out of it into the consumers.
//
// Layout of an encoded batch, version 3 (little endian; the columns of fixed width start at multiples of 8):
//
//   u32 header length | header (msgpack)
//   uuids        count × 16 bytes
//   born ids     count × 16 bytes     uuidv5 of "<project>:<distinct_id>": the person the event was born to
//   timestamps   count × f64          Micros
//   digests      count × f64          of what the event says of its person (person-digest.ts); 0 where none tells that
//   flags        count × u8           EventFlag bits
//   sizes        4 × u32              bytes of places, shared texts, person, properties; at a multiple of 8
//   places       for each event numbers in 7 bits a byte, lowest first, the eighth bit set where more follow:
//                  length of its properties
//                  number of its name among the shared texts; the next new number is followed by that text's length
//                  twice the number of its distinct_id among the shared texts, likewise; or twice how far before the
//                  end of its properties the id stands in them, plus 1, and its length: most SDKs send it twice
//                  lengths of its elements chain and of its person column
//   shared texts names and distinct_ids, each once where they repeat nearby
//   person       see below
//   properties   JSON text, an object, as it will be stored; behind each value a separator byte 0x1E
//   elements     elements chains; behind each value a separator byte
//
// JSON text cannot hold a raw 0x1E; names, ids and chains can, so that no column can be split by it. All text is
// well-formed UTF-8 without NUL.
//
// `person` is all that the persons consumer reads of an event beside the ids, name, time and flags: the members of an
// object that holds every key once, or nothing when the event is anonymous or has none of these:
//   $set, $set_once         objects, those of the event's top level merged in; absent when they were anything else
//   $unset                  a list of names or an object whose keys are the names, the top level's merged in
//   $groups                 an object
//   $anon_distinct_id       of $identify only; any JSON but null
//   alias                   of $create_alias and $merge_dangerously only; any JSON
//   $group_type, $group_key, $group_set   of $groupidentify only; any JSON
//   mapped properties       those from which $set and $initial_... are derived (event-keys.ts); any JSON
// Values are as sent. $groupidentify has neither $set, $set_once, $unset nor mapped properties; $snapshot has no
// mapped ones. The members stand in the properties already, so the column says where (person-pieces.ts): with their
// text once more a record of 1.1 KB events was 430 bytes an event larger.
//
// A change of the layout is a new version; readers accept the current version and the one before. Version 2 has no
// digests: its events are read as if none could tell what they say, which takes longer and is as right.

import { unpack } from 'msgpackr'
import { assert } from '../lib/assert.ts'
import { alignTo8 } from '../lib/bytes.ts'
import type { Micros } from '../lib/clock.ts'
import { type Cells, type TextColumn, takeCells } from './text-column.ts'
import { VarintReader } from './varint.ts'

export const eventBatchVersion = 3

/** Follows every value of a column of text. */
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
} as const

/** Names of the text columns, in the order of the layout. */
export const textColumnNames = ['event', 'distinctId', 'properties', 'person', 'elementsChain'] as const
export type TextColumnName = (typeof textColumnNames)[number]

/**
 * What all events of a batch share. They may be of several requests, whose `sent_at` differ: each event has its own in
 * its properties and its time. Older builds, which wrote a batch a request, also named a `sentAtMs`; nobody reads it.
 */
export interface EventBatchHeader {
  readonly version: number
  readonly projectId: number
  /** When its first request was complete, epoch ms: the others of it came within 100 ms (turn-capture). */
  readonly receivedAtMs: number
  readonly historical: boolean
  readonly count: number
}

/** A decoded batch: views on the encoded bytes, no text copied. */
export interface EventBatch {
  readonly header: EventBatchHeader
  /** 16 bytes an event. */
  readonly uuids: Uint8Array
  /** 16 bytes an event. */
  readonly bornIds: Uint8Array
  readonly timestamps: Float64Array
  readonly digests: Float64Array
  readonly flags: Uint8Array
  readonly text: Readonly<Record<TextColumnName, TextColumn>>
}

/** Byte offsets of the columns of fixed width, and of what is behind them. */
export interface FixedLayout {
  readonly uuids: number
  readonly bornIds: number
  readonly timestamps: number
  /** The same as `flags` where there are none. */
  readonly digests: number
  readonly flags: number
  readonly behind: number
}

/** Bytes of the four sizes. */
export const sizesBytes = 16

/** Bytes of the columns of fixed width that every version has, for each event. */
const fixedBytes = 16 + 16 + 8 + 1

/**
 * Opens an encoded batch. `bytes` must start at a multiple of 8 in its buffer (the journal reader sees to that).
 * Errors: a programmer error for a version that this build does not read, and for columns that do not fill the bytes
 * exactly: no value ends beyond its column. What the values say is for the record's checksum to guard.
 */
export function openEventBatch(bytes: Uint8Array): EventBatch {
  assert(bytes.byteOffset % 8 === 0, 'an event batch starts at a multiple of 8')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerLength = bytes.length < 4 ? 0 : view.getUint32(0, true)
  assert(headerLength > 0 && 4 + headerLength <= bytes.length, 'an event batch begins with its header')
  // Written by encodeEventBatch and guarded by the record's checksum.
  const header = unpack(bytes.subarray(4, 4 + headerLength)) as EventBatchHeader
  const { count, version } = header
  assert(version === eventBatchVersion || version === 2, `event batch version ${version} is known`)
  // Before anything is laid out or made for so many.
  const isCount = Number.isInteger(count) && count >= 0 && count * fixedBytes <= bytes.length
  assert(isCount, `an event batch of ${bytes.length} bytes holds ${count} events`)
  const layout = layOut(version, headerLength, count)
  const cells = count * 2
  const { spans, first } = takeCells(cells * textColumnNames.length)
  const isWhole = readPlaces(bytes, view, layout.behind, { spans, first, cells })
  assert(isWhole, 'the columns of an event batch fill its bytes')
  return {
    header,
    uuids: bytes.subarray(layout.uuids, layout.uuids + count * 16),
    bornIds: bytes.subarray(layout.bornIds, layout.bornIds + count * 16),
    timestamps: new Float64Array(bytes.buffer, bytes.byteOffset + layout.timestamps, count),
    digests:
      version === 2
        ? new Float64Array(count)
        : new Float64Array(bytes.buffer, bytes.byteOffset + layout.digests, count),
    flags: bytes.subarray(layout.flags, layout.flags + count),
    text: {
      event: { bytes, spans, first },
      distinctId: { bytes, spans, first: first + cells },
      properties: { bytes, spans, first: first + 2 * cells },
      person: { bytes, spans, first: first + 3 * cells },
      elementsChain: { bytes, spans, first: first + 4 * cells },
    },
  }
}

/** Where the spans of a batch go: for each text column `cells` cells, the columns one behind the other. */
interface Room extends Cells {
  readonly cells: number
}

/** Start and end of each shared text of the batch that is being opened, by number. */
let shared = new Uint32Array(256)

/**
 * Reads the places of a batch whose sizes stand at `sizes`. Returns false when a value is not within its column.
 * Costs some 40 ns an event (Node 20).
 */
function readPlaces(bytes: Uint8Array, view: DataView, sizes: number, room: Room): boolean {
  const { spans, first, cells } = room
  const places = sizes + sizesBytes
  if (places > bytes.length) return false
  const sharedStart = places + view.getUint32(sizes, true)
  const personStart = sharedStart + view.getUint32(sizes + 4, true)
  const propertiesStart = personStart + view.getUint32(sizes + 8, true)
  const chainStart = propertiesStart + view.getUint32(sizes + 12, true)
  const reader = new VarintReader(bytes, places)
  let sharedAt = sharedStart
  let personAt = personStart
  let propertiesAt = propertiesStart
  let chainAt = chainStart
  // The columns follow each other.
  const distinctIds = cells
  const properties = 2 * cells
  const persons = 3 * cells
  const chains = 4 * cells
  // Two an event at most.
  if (cells * 2 > shared.length) shared = new Uint32Array(cells * 2)
  let sharedCount = 0
  let isWhole = true
  for (let cell = first; cell < first + cells; cell += 2) {
    const propertiesEnd = propertiesAt + reader.next()
    spans[properties + cell] = propertiesAt
    spans[properties + cell + 1] = propertiesEnd
    const name = reader.next()
    if (name === sharedCount) {
      shared[sharedCount * 2] = sharedAt
      sharedAt += reader.next()
      shared[sharedCount++ * 2 + 1] = sharedAt
    }
    spans[cell] = shared[name * 2]!
    spans[cell + 1] = shared[name * 2 + 1]!
    const id = reader.next()
    if ((id & 1) === 1) {
      const start = propertiesEnd - (id >>> 1)
      const end = start + reader.next()
      spans[distinctIds + cell] = start
      spans[distinctIds + cell + 1] = end
      if (start < propertiesAt || end > propertiesEnd) isWhole = false
    } else {
      if (id >>> 1 === sharedCount) {
        shared[sharedCount * 2] = sharedAt
        sharedAt += reader.next()
        shared[sharedCount++ * 2 + 1] = sharedAt
      }
      spans[distinctIds + cell] = shared[id]!
      spans[distinctIds + cell + 1] = shared[id + 1]!
      if (id >>> 1 >= sharedCount) isWhole = false
    }
    if (name >= sharedCount) isWhole = false
    propertiesAt = propertiesEnd + 1
    spans[chains + cell] = chainAt
    chainAt += reader.next()
    spans[chains + cell + 1] = chainAt++
    spans[persons + cell] = personAt
    personAt += reader.next()
    spans[persons + cell + 1] = personAt
  }
  // No number is negative: a column that ends where it must was left nowhere on the way.
  return (
    isWhole &&
    reader.at === sharedStart &&
    sharedAt === personStart &&
    personAt === propertiesStart &&
    propertiesAt === chainStart &&
    chainAt === bytes.length
  )
}

/** The timestamp of event `index`. */
export function timestampOf(batch: EventBatch, index: number): Micros {
  return batch.timestamps[index] as Micros // the column holds Micros
}

/** Where the columns of fixed width are. */
export function layOut(version: number, headerLength: number, count: number): FixedLayout {
  const uuids = alignTo8(4 + headerLength)
  const bornIds = uuids + count * 16
  const timestamps = bornIds + count * 16
  const digests = timestamps + count * 8
  const flags = version === 2 ? digests : digests + count * 8
  return { uuids, bornIds, timestamps, digests, flags, behind: alignTo8(flags + count) }
}
