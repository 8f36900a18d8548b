// The person column of an event, piece by piece. Its members stand in the event's own properties, those of an SDK a few
// together, so that most pieces are places there: five or six of two or three bytes for an event of posthog-js.
//
// A value is a row of pieces, each one member or several with commas between them, printed compactly:
//   twice the length, then how far behind the end of the last such piece it starts in the properties; or
//   twice the length plus 1, then the text itself and a separator byte
// (both numbers as varints).

import { assert } from '../lib/assert.ts'
import { type EventBatch, separatorByte } from './event-batch.ts'
import { placeOf, type Stretches } from './properties-edit.ts'
import { runSize } from './run-layout.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'
import { valueEnd, valueStart } from './text-column.ts'
import { putVarint, varintBytesMax } from './varint.ts'

/** The pieces of one event; `nextPiece` comes to each in turn. */
export interface Pieces {
  bytes: Uint8Array
  /** Of the piece in `bytes`: what stands behind it is no part of a JSON value. */
  start: number
  end: number
  /** The next piece's place in the column, and the end of the value. */
  at: number
  valueEnd: number
  /** End in the properties of the last piece there, and the end of the properties. */
  last: number
  propertiesEnd: number
}

export function createPieces(): Pieces {
  return {
    bytes: new Uint8Array(0),
    start: 0,
    end: 0,
    at: 0,
    valueEnd: 0,
    last: 0,
    propertiesEnd: 0,
  }
}

/** Begins with event `index`. */
export function openPieces(pieces: Pieces, batch: EventBatch, index: number): void {
  const { person, properties } = batch.text
  pieces.bytes = person.bytes
  pieces.at = valueStart(person, index)
  pieces.valueEnd = valueEnd(person, index)
  pieces.last = valueStart(properties, index)
  pieces.propertiesEnd = valueEnd(properties, index)
}

/** Moves on to the next piece. Returns false after the last. Errors: a programmer error for one outside its event. */
export function nextPiece(pieces: Pieces): boolean {
  if (pieces.at >= pieces.valueEnd) return false
  const head = readNumber(pieces)
  if ((head & 1) === 1) {
    pieces.start = pieces.at
    pieces.end = pieces.at + (head >>> 1)
    pieces.at = pieces.end + 1
    assert(pieces.at <= pieces.valueEnd, pieceIsInside)
    return true
  }
  pieces.start = pieces.last + readNumber(pieces)
  pieces.end = pieces.start + (head >>> 1)
  pieces.last = pieces.end
  assert(pieces.at <= pieces.valueEnd && pieces.end <= pieces.propertiesEnd, pieceIsInside)
  return true
}

/** The person column of event `index` as JSON text, an object; '' when it holds nothing. */
export function personText(batch: EventBatch, index: number): string {
  openPieces(scratch, batch, index)
  const { buffer, byteOffset, byteLength } = scratch.bytes
  // One for all pieces: each takes longer to make than a piece to print.
  const whole = Buffer.from(buffer, byteOffset, byteLength)
  let text = ''
  while (nextPiece(scratch)) {
    text += `${text === '' ? '{' : ','}${whole.toString('utf8', scratch.start, scratch.end)}`
  }
  return text === '' ? '' : `${text}}`
}

const scratch = createPieces()
const pieceIsInside = 'a piece of a person column stands in its event'

function readNumber(pieces: Pieces): number {
  const { bytes } = pieces
  let byte = bytes[pieces.at++]!
  let value = byte & 0x7f
  for (let shift = 7; byte > 0x7f; shift += 7) {
    byte = bytes[pieces.at++]!
    value |= (byte & 0x7f) << shift
  }
  return value >>> 0
}

/** Writes one event's pieces: those in its properties in the order in which they stand there. */
export class PieceWriter {
  #target: TextArena | null = null
  /** The piece that may still grow, from the start of the properties; none while both are 0. */
  #start = 0
  #end = 0
  #last = 0

  /** Begins an event's value at the end of `target`. */
  begin(target: TextArena): void {
    this.#target = target
    this.#start = 0
    this.#end = 0
    this.#last = 0
  }

  /** Adds what stands at [start, end) of the properties. */
  addPlace(start: number, end: number): void {
    if (this.#end > 0 && start === this.#end + 1) {
      this.#end = end
      return
    }
    this.#flush()
    this.#start = start
    this.#end = end
  }

  /**
   * Adds the members that the scan has found already, runs in their order, where `stretches` say that they went.
   * `valueStart` is where the properties begin.
   */
  addRuns({ cells, entriesEnd, runCount }: EventSpans, stretches: Stretches, valueStart: number): void {
    const isOneStretch = stretches.count === 1
    const move = isOneStretch ? stretches.moves[0]! - valueStart : 0
    const runsEnd = entriesEnd + runCount * runSize
    for (let run = entriesEnd; run < runsEnd; run += runSize) {
      const from = cells[run]!
      const start = isOneStretch ? from + move : placeOf(stretches, from) - valueStart
      this.addPlace(start, start + cells[run + 1]!)
    }
  }

  /** Adds a text that stands nowhere: `before` and bytes[start, end). */
  addText(before: Uint8Array, bytes: Uint8Array, start: number, end: number): void {
    const target = this.#flush()
    const length = before.length + end - start
    target.reserve(varintBytesMax + length + 1)
    putVarint(target, length * 2 + 1)
    target.append(before, 0, before.length)
    target.append(bytes, start, end)
    target.put(separatorByte)
  }

  end(): void {
    this.#flush()
    this.#target = null
  }

  #flush(): TextArena {
    const target = this.#target!
    if (this.#end > 0) {
      target.reserve(2 * varintBytesMax)
      putVarint(target, (this.#end - this.#start) * 2)
      putVarint(target, this.#start - this.#last)
      this.#last = this.#end
      this.#end = 0
    }
    return target
  }
}
