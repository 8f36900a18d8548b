// The rows of one bulk statement, as one text per column.
//
// Measured with 1.1 KB events (877 bytes of properties), DuckDB 1.5.6, Node 20.20.2, two cores, CPU µs per event with
// commit and checkpoint, transactions of 122,880 rows, statements of 5,120:
//   every column one text, split and unnested by DuckDB              6.1
//   the same, properties as VARCHAR without the check of their JSON  5.1   (not worth an unreadable column)
//   ids as slices of one BLOB instead of hexadecimal text           48
//   constant columns of a record kept out of the texts               5.6   (cannot span records)
// The floor, a table of these rows without properties, is 1.6: most of the rest is zstd.

import { type EventBatch, EventFlag, separatorByte, type TextColumn } from '../capture/event-batch.ts'
import type { Position } from '../journal/journal.ts'
import {
  createTextSink,
  integerSizeMax,
  reserve,
  sinkText,
  type TextSink,
  writeBytes,
  writeIds,
  writeInteger,
  writeRepeated,
} from './text-sink.ts'

/** A statement holds no more rows: beyond it nothing gets cheaper, and texts grow. */
export const bulkRowsMax = 5120
/** A statement holds no more text than this, once it has one row. */
export const bulkBytesMax = 8 * 1024 * 1024

/** Columns in the order of the statement's parameters. */
const columnNames = [
  'projectId',
  'uuid',
  'event',
  'distinctId',
  'bornId',
  'timestamp',
  'receivedAt',
  'properties',
  'elementsChain',
  'flags',
  'position',
  'index',
] as const

/** What the store keeps of an event's flags and its record's header, one digit. */
export const rowFlag = { anonymous: 1, historical: 2 } as const

/** Collects rows until they are bound; its memory is used again. */
export class Bulk {
  rows = 0
  readonly #sinks = Object.fromEntries(columnNames.map((name) => [name, createTextSink()])) as Record<
    (typeof columnNames)[number],
    TextSink
  > // one sink for each name of the constant list

  /** How many of the events `from` to `to` still fit: at least one when the bulk is empty. */
  fitting(batch: EventBatch, from: number, to: number): number {
    const end = Math.min(to, from + bulkRowsMax - this.rows)
    const bytesMax = bulkBytesMax - this.#textBytes()
    let bytes = 0
    let last = from
    while (last < end) {
      bytes += eventTextBytes(batch, last)
      if (bytes > bytesMax) break
      last++
    }
    return last === from && this.rows === 0 ? 1 : last - from
  }

  /** Takes the events `from` to `to`, exclusive, of the record at `position`; none may be a separator event. */
  append(batch: EventBatch, position: Position, from: number, to: number): void {
    const { header, text } = batch
    const sinks = this.#sinks
    const count = to - from
    writeRepeated(sinks.projectId, header.projectId, count)
    writeIds(sinks.uuid, batch.uuids.subarray(from * 16, to * 16))
    writeBytes(sinks.event, slice(text.event, from, to))
    writeBytes(sinks.distinctId, slice(text.distinctId, from, to))
    writeIds(sinks.bornId, batch.bornIds.subarray(from * 16, to * 16))
    writeRepeated(sinks.receivedAt, header.receivedAtMs * 1000, count)
    writeBytes(sinks.properties, slice(text.properties, from, to))
    writeBytes(sinks.elementsChain, slice(text.elementsChain, from, to))
    writeRepeated(sinks.position, position, count)
    reserve(sinks.timestamp, count * integerSizeMax)
    reserve(sinks.index, count * integerSizeMax)
    reserve(sinks.flags, count * 2)
    const recordFlags = header.historical ? rowFlag.historical : 0
    const { bytes } = sinks.flags
    let at = sinks.flags.size
    for (let i = from; i < to; i++) {
      writeInteger(sinks.timestamp, batch.timestamps[i]!)
      writeInteger(sinks.index, i)
      bytes[at++] = 48 + recordFlags + ((batch.flags[i]! & EventFlag.anonymous) === 0 ? 0 : rowFlag.anonymous)
      bytes[at++] = separatorByte
    }
    sinks.flags.size = at
    this.rows += count
  }

  /** The texts in the order of the parameters; valid until the next append. */
  texts(): Uint8Array[] {
    return columnNames.map((name) => sinkText(this.#sinks[name]))
  }

  #textBytes(): number {
    const { event, distinctId, properties, elementsChain } = this.#sinks
    return event.size + distinctId.size + properties.size + elementsChain.size
  }

  clear(): void {
    this.rows = 0
    for (const name of columnNames) this.#sinks[name].size = 0
  }
}

/** Bytes of text that event `index` brings into its row. */
export function eventTextBytes(batch: EventBatch, index: number): number {
  const { event, distinctId, properties, elementsChain } = batch.text
  const last =
    event.ends[index]! + distinctId.ends[index]! + properties.ends[index]! + elementsChain.ends[index]!
  if (index === 0) return last
  const before = index - 1
  const first =
    event.ends[before]! + distinctId.ends[before]! + properties.ends[before]! + elementsChain.ends[before]!
  return last - first - 4
}

/** The values `from` to `to` of a column, each with its separator. */
function slice(column: TextColumn, from: number, to: number): Uint8Array {
  return column.bytes.subarray(startOf(column, from), column.ends[to - 1]! + 1)
}

function startOf(column: TextColumn, index: number): number {
  return index === 0 ? 0 : column.ends[index - 1]! + 1
}
