// A destination that keeps what it is given, as S3 does: a chunk that comes again takes the place of the first.

import { readFileSync } from 'node:fs'
import type { Delivery, Destination, RunSubject, StagedChunk } from '../../src/exports/delivery.ts'

export type Row = Readonly<Record<string, unknown>>

export class Recorder implements Destination {
  /** Rows by interval and chunk. */
  readonly files = new Map<string, readonly Row[]>()
  readonly finished: string[] = []
  deliveries = 0
  /** Of attempts that had something to deliver. */
  readonly subjects: RunSubject[] = []
  /** Called before a chunk is kept; may throw, or wait. */
  beforeKept: (chunk: StagedChunk, signal: AbortSignal) => unknown = () => {}
  /** Called when a chunk is kept; a crash here loses nothing but the answer. */
  afterKept: (chunk: StagedChunk) => unknown = () => {}

  isReplacing = false
  hasPersonProperties = false

  format() {
    return { kind: 'jsonl', compression: null } as const
  }

  chunkBytesMax() {
    return null
  }

  async open(_config: unknown, subject: RunSubject): Promise<Delivery> {
    const name = nameOf(subject)
    this.subjects.push(subject)
    return {
      deliver: async (chunk, signal) => {
        await this.beforeKept(chunk, signal)
        const text = readFileSync(chunk.path, 'utf8')
        const rows = text.split('\n').filter((line) => line !== '')
        if (rows.length !== chunk.recordCount || Buffer.byteLength(text) !== chunk.bytes)
          throw new Error('the file is not what the chunk says')
        this.deliveries++
        this.files.set(
          `${name}/${chunk.index}`,
          rows.map((line) => JSON.parse(line) as Row),
        ) // JSON lines
        await this.afterKept(chunk)
      },
      finish: async (chunks) => {
        this.finished.push(
          `${name}: ${chunks.map(({ index, recordCount }) => `${index}=${recordCount}`).join(' ')}`,
        )
      },
      close: async () => {},
    }
  }

  /** A column of all rows, in the order of files. */
  column(name: string): unknown[] {
    return [...this.files.values()].flat().map((row) => row[name])
  }

  /** What lies in the files of one interval, which ends at `end`. */
  columnOf(end: string, name: string): unknown[] {
    return [...this.files].flatMap(([file, rows]) =>
      file.split('/')[0]!.endsWith(end) ? rows.map((row) => row[name]) : [],
    )
  }
}

function nameOf({ startMs, endMs }: RunSubject): string {
  return `${startMs === null ? '' : short(startMs)}–${short(endMs)}`
}

function short(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16)
}
