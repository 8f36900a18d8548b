// A destination that keeps what it is given, as S3 does: a chunk that comes again takes the place of the first. Or as
// Postgres does: one that comes again is passed over, and rows take the place of those of an earlier run.

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

  isTable = false
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
        this.#keep(
          subject,
          chunk.index,
          rows.map((line) => JSON.parse(line) as Row), // JSON lines
        )
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

  #keep(subject: RunSubject, index: number, rows: readonly Row[]): void {
    const file = `${nameOf(subject)}/${index}`
    if (!this.isTable) {
      this.files.set(file, rows)
      return
    }
    const mark = `${file}/${subject.runId}`
    if (this.files.has(mark)) return
    const uuids = new Set(rows.map(({ uuid }) => uuid))
    if (subject.mayRepeat)
      for (const [other, kept] of this.files)
        this.files.set(
          other,
          kept.filter(({ uuid }) => !uuids.has(uuid)),
        )
    this.files.set(mark, rows)
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
