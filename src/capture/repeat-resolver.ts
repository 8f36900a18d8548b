// Rewrites an event in which a key stands twice so that it has every key once, the last one holding. Nobody's SDK
// sends such events; whoever does pays for three more scans.

import { Field } from './event-keys.ts'
import { scanEvent } from './event-scan.ts'
import { openBrace } from './json-bytes.ts'
import { mergeObjects } from './merge-objects.ts'
import { openScan, type Scan } from './scan.ts'
import { clearTape, createSpans, createTape, type EventSpans, keepRecord, readRecord } from './span-tape.ts'
import { TextArena } from './text-arena.ts'

export interface ScannedEvent {
  readonly scan: Scan
  readonly spans: EventSpans
}

export class RepeatResolver {
  readonly #tape = createTape()
  readonly #spans = createSpans()
  readonly #arena = new TextArena(4096)

  /** The event of `spans`, an object, rewritten. What comes back is good until the next call. */
  resolve(scan: Scan, spans: EventSpans): ScannedEvent {
    this.#arena.clear(0)
    mergeObjects(scan, [spans.start], this.#arena)
    const fields = this.#scan(0)
    const properties = this.#spans.starts[Field.properties]!
    if (properties === 0 || fields.bytes[properties] !== openBrace)
      return { scan: fields, spans: this.#spans }
    const end = this.#spans.ends[Field.properties]!
    const start = this.#arena.size
    this.#arena.reserve(2 * start)
    this.#arena.append(fields.bytes, 0, properties)
    mergeObjects(fields, [properties], this.#arena)
    this.#arena.append(fields.bytes, end, start)
    return { scan: this.#scan(start), spans: this.#spans }
  }

  /** Scans the arena's text from `start` on, which is one event. */
  #scan(start: number): Scan {
    const scan = openScan(this.#arena.bytes.subarray(0, this.#arena.size), true)
    clearTape(this.#tape)
    scanEvent(scan, this.#tape, start)
    keepRecord(this.#tape)
    readRecord(this.#tape, 0, this.#spans)
    return scan
  }
}
