// Gathers captured events in columns and cuts them into encoded batches. Its memory is used again for the next batch.
//
// A batch holds one request or, one behind the other, several. The rows of a request stay only if it ends: one that was
// begun and then failed, however it did, costs nothing, as the next begins in its place.

import { assert } from '../lib/assert.ts'
import type { Bytes } from '../lib/bytes.ts'
import type { Micros } from '../lib/clock.ts'
import type { EncodedPart } from './capture-task.ts'
import {
  type EventBatchHeader,
  EventFlag,
  eventBatchVersion,
  separatorByte,
  type TextColumnName,
  textColumnNames,
} from './event-batch.ts'
import { encodeEventBatch, type WrittenColumn } from './event-batch-writer.ts'
import { TextArena } from './text-arena.ts'

/** What all events of a batch share. */
export interface BatchFacts {
  readonly projectId: number
  readonly receivedAtMs: number
  readonly historical: boolean
  /**
   * A part is cut before it would grow beyond this, unless it is a single event. Only the first request of a batch is
   * cut: a part with events of another could not be taken back. Whoever lets another in sees that it is small.
   */
  readonly recordBytesMax: number
}

/** Memory an arena keeps between batches. */
const arenaKeptBytes = 16 * 1024 * 1024

/**
 * Identity events of a part that are named to the main thread: a thousand of a request, as who sends more at once is
 * importing, and all of the smaller ones before it in its batch (turn-capture).
 */
const identityEventsMax = 1500
const noBytes = new Uint8Array(0)

/** What an event takes beside its texts: uuid, born id, timestamp, digest, flags, and its places at most. */
const fixedBytes = 16 + 16 + 8 + 8 + 1 + 20

export class EventBatchBuilder {
  /** Values of the event being written; the builder adds the separators. */
  readonly text: Readonly<Record<TextColumnName, TextArena>> = {
    event: new TextArena(16 * 1024),
    distinctId: new TextArena(16 * 1024),
    properties: new TextArena(256 * 1024),
    person: new TextArena(64 * 1024),
    elementsChain: new TextArena(16 * 1024),
  }
  /** The same by number: to look them up by name costs some 15 ns each. */
  readonly #arenas = textColumnNames.map((name) => this.text[name])
  /** Events in the part being built; also the row of the event being written. */
  count = 0
  uuids = new Uint8Array(0)
  /** The same bytes. */
  uuidView = new DataView(this.uuids.buffer)
  uuidWords = new Int32Array(this.uuids.buffer)
  bornIds = new Uint8Array(0)
  /** The same bytes. */
  bornIdWords = new Int32Array(this.bornIds.buffer)
  /** Two words an event; both 0 when it cannot be known again. */
  dedupKeys = new Uint32Array(0)
  /** How far before the end of its properties an event's distinct_id stands in them; 0 where it does not. */
  idDistances = new Uint32Array(0)
  /** Of what an event says of its person; 0 where no digest tells that. */
  digests = new Float64Array(0)
  #timestamps = new Float64Array(0)
  #flags = new Uint8Array(0)
  #ends: Uint32Array[] = []
  #facts: BatchFacts | null = null
  #parts: EncodedPart[] = []
  /** Parts and rows of the requests that ended. */
  #keptParts = 0
  #keptRows = 0

  constructor() {
    this.#growRows(256)
  }

  /** Begins a batch. Whatever an earlier one left behind is gone. */
  open(facts: BatchFacts): void {
    this.#facts = facts
    this.#parts = []
    this.#keptParts = 0
    this.#keptRows = 0
    this.count = 0
    for (const name of textColumnNames) this.text[name].clear(arenaKeptBytes)
  }

  /** Begins a request, and forgets one that was begun and not ended. */
  beginRequest(): void {
    this.#parts.length = this.#keptParts
    this.count = this.#keptRows
  }

  /** Ends the request: its events stay. */
  endRequest(): void {
    this.#keptParts = this.#parts.length
    this.#keptRows = this.count
  }

  /** Makes room for an event and forgets one that was begun and not ended. */
  beginEvent(): void {
    if (this.count === this.#flags.length) this.#growRows(this.count * 2)
    this.idDistances[this.count] = 0
    this.digests[this.count] = 0
    for (let column = 0; column < textColumnNames.length; column++) {
      const arena = this.#arena(column)
      arena.valueStart = this.#startOf(column, this.count)
      arena.size = arena.valueStart
    }
  }

  /** Completes the event whose texts, uuid, born id and key are written. */
  endEvent(timestamp: Micros, flags: number): void {
    const row = this.count
    this.#timestamps[row] = timestamp
    this.#flags[row] = flags
    let size = (row + 1) * fixedBytes
    for (let column = 0; column < textColumnNames.length; column++) {
      const arena = this.#arena(column)
      this.#ends[column]![row] = arena.size
      arena.reserve(1)
      arena.put(separatorByte)
      size += arena.size
    }
    if (row > 0 && this.#keptRows === 0 && size > this.#opened().recordBytesMax) this.#cutBefore(row)
    this.count++
  }

  /** Ends the batch and returns its parts in order. */
  close(): EncodedPart[] {
    this.beginRequest()
    if (this.count > 0) this.#parts.push(this.#encode(this.count))
    const parts = this.#parts
    this.#parts = []
    this.#keptParts = 0
    this.#keptRows = 0
    this.#facts = null
    this.count = 0
    return parts
  }

  /** Makes a part of all rows before `row`, which becomes the first of the next. */
  #cutBefore(row: number): void {
    this.#parts.push(this.#encode(row))
    for (let column = 0; column < textColumnNames.length; column++) {
      const arena = this.#arena(column)
      const ends = this.#ends[column]!
      const start = this.#startOf(column, row)
      arena.bytes.copyWithin(0, start, arena.size)
      arena.size -= start
      ends[0] = ends[row]! - start
    }
    this.uuids.copyWithin(0, row * 16, row * 16 + 16)
    this.bornIds.copyWithin(0, row * 16, row * 16 + 16)
    this.dedupKeys.copyWithin(0, row * 2, row * 2 + 2)
    this.idDistances.copyWithin(0, row, row + 1)
    this.digests.copyWithin(0, row, row + 1)
    this.#timestamps.copyWithin(0, row, row + 1)
    this.#flags.copyWithin(0, row, row + 1)
    this.count = 0
  }

  #encode(count: number): EncodedPart {
    const { projectId, receivedAtMs, historical } = this.#opened()
    const header: EventBatchHeader = {
      version: eventBatchVersion,
      projectId,
      receivedAtMs,
      historical,
      count,
    }
    const payload = encodeEventBatch(header, {
      uuids: this.uuids,
      bornIds: this.bornIds,
      timestamps: this.#timestamps,
      digests: this.digests,
      flags: this.#flags,
      idDistances: this.idDistances,
      text: {
        event: this.#column(0, count),
        distinctId: this.#column(1, count),
        properties: this.#column(2, count),
        person: this.#column(3, count),
        elementsChain: this.#column(4, count),
      },
    })
    return {
      payload,
      eventCount: count,
      dedupKeys: this.dedupKeys.slice(0, count * 2),
      identityBornIds: this.#identityBornIds(count),
    }
  }

  #identityBornIds(count: number): Bytes {
    const rows: number[] = []
    for (let row = 0; row < count && rows.length < identityEventsMax; row++) {
      if ((this.#flags[row]! & EventFlag.identity) !== 0) rows.push(row)
    }
    if (rows.length === 0) return noBytes
    const bornIds = new Uint8Array(rows.length * 16)
    for (const [index, row] of rows.entries()) {
      bornIds.set(this.bornIds.subarray(row * 16, row * 16 + 16), index * 16)
    }
    return bornIds
  }

  #column(column: number, count: number): WrittenColumn {
    const bytes = this.#arena(column).bytes.subarray(0, this.#startOf(column, count))
    return { bytes, ends: this.#ends[column]! }
  }

  #startOf(column: number, row: number): number {
    return row === 0 ? 0 : this.#ends[column]![row - 1]! + 1
  }

  #arena(column: number): TextArena {
    return this.#arenas[column]!
  }

  #opened(): BatchFacts {
    assert(this.#facts !== null, 'the builder is open')
    return this.#facts
  }

  #growRows(count: number): void {
    this.uuids = grown(this.uuids, new Uint8Array(count * 16))
    this.uuidView = new DataView(this.uuids.buffer)
    this.uuidWords = new Int32Array(this.uuids.buffer)
    this.bornIds = grown(this.bornIds, new Uint8Array(count * 16))
    this.bornIdWords = new Int32Array(this.bornIds.buffer)
    this.dedupKeys = grown(this.dedupKeys, new Uint32Array(count * 2))
    this.idDistances = grown(this.idDistances, new Uint32Array(count))
    this.digests = grown(this.digests, new Float64Array(count))
    this.#timestamps = grown(this.#timestamps, new Float64Array(count))
    this.#flags = grown(this.#flags, new Uint8Array(count))
    this.#ends = textColumnNames.map((_, column) =>
      grown(this.#ends[column] ?? new Uint32Array(0), new Uint32Array(count)),
    )
  }
}

/** `target` with what `source` holds at its beginning. */
function grown<Column extends Uint8Array | Uint32Array | Float64Array>(
  source: Column,
  target: Column,
): Column {
  target.set(source)
  return target
}
