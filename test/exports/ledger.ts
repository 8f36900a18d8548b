// Destinations of random histories, and what they were brought. `files` is what S3 is: a chunk takes the place of the
// one before it in its interval. `table` is what Postgres is: a chunk of a run is taken once, and rows take the place
// of those of an earlier run. `stream` adds whatever comes: it is promised every event at least once, and no more.

import { readFileSync } from 'node:fs'
import type {
  DeliveredChunk,
  Delivery,
  Destination,
  RunSubject,
  StagedChunk,
} from '../../src/exports/delivery.ts'
import type { DestinationConfig } from '../../src/exports/destination.ts'

export const ledgerKinds = ['files', 'table', 'stream'] as const
export type LedgerKind = (typeof ledgerKinds)[number]
export type Ledgers = Readonly<Record<LedgerKind, Ledger>>

/** Two events of a history. */
const smallChunkBytes = 300

export interface Step {
  readonly subject: RunSubject
  readonly chunk: StagedChunk
  readonly isKept: boolean
}

export class Ledger implements Destination {
  readonly isReplacing: boolean
  readonly hasPersonProperties = false
  /** Called before a chunk is kept, and after; may throw. */
  onStep: (step: Step) => Promise<void> = async () => {}
  /** What should not have been, in words. */
  readonly faults: string[] = []
  readonly #kind: LedgerKind
  readonly #rows = new Map<string, { readonly exportId: string; readonly uuids: readonly string[] }>()
  readonly #marks = new Set<string>()
  readonly #active = new Set<RunSubject>()
  #count = 0

  constructor(kind: LedgerKind) {
    this.#kind = kind
    this.isReplacing = kind === 'table'
  }

  format() {
    return { kind: 'jsonl', compression: null } as const
  }

  /** A change of the export moves where chunks end, and takes nothing from it. */
  chunkBytesMax({ include_events }: DestinationConfig): number | null {
    return include_events === null ? null : smallChunkBytes
  }

  /** How often each event is there. */
  countsOf(exportId: string): Map<string, number> {
    const counts = new Map<string, number>()
    for (const rows of this.#rows.values())
      if (rows.exportId === exportId)
        for (const uuid of rows.uuids) counts.set(uuid, (counts.get(uuid) ?? 0) + 1)
    return counts
  }

  async open(_config: unknown, subject: RunSubject): Promise<Delivery> {
    return {
      deliver: (chunk, signal) => this.#alone(subject, () => this.#deliver(subject, chunk, signal)),
      finish: (chunks) => this.#alone(subject, async () => this.#finish(subject, chunks)),
      close: async () => {},
    }
  }

  async #alone(subject: RunSubject, step: () => Promise<void>): Promise<void> {
    for (const other of this.#active) {
      const isSame = other.startMs === subject.startMs && other.endMs === subject.endMs
      const overlaps = (other.startMs ?? 0) < subject.endMs && (subject.startMs ?? 0) < other.endMs
      if (other.exportId === subject.exportId && (isSame || (this.isReplacing && overlaps)))
        this.faults.push(`two runs at once: ${other.runId} and ${subject.runId}`)
    }
    this.#active.add(subject)
    try {
      await step()
    } finally {
      this.#active.delete(subject)
    }
  }

  async #deliver(subject: RunSubject, chunk: StagedChunk, signal: AbortSignal): Promise<void> {
    await this.onStep({ subject, chunk, isKept: false })
    signal.throwIfAborted()
    const uuids = uuidsOf(chunk)
    if (uuids.length !== chunk.recordCount) this.faults.push(`chunk ${chunk.index} is not what it says`)
    this.#keep(subject, chunk.index, uuids)
    await this.onStep({ subject, chunk, isKept: true })
  }

  #keep(subject: RunSubject, index: number, uuids: readonly string[]): void {
    const { exportId, runId, mayRepeat } = subject
    const count = this.#count++
    if (this.#kind !== 'table') {
      this.#set(this.#kind === 'files' ? fileOf(subject, index) : String(count), exportId, uuids)
      return
    }
    const mark = `${runId}/${index}`
    if (this.#marks.has(mark)) return
    this.#marks.add(mark)
    const known = new Set(uuids)
    if (mayRepeat)
      for (const [place, rows] of this.#rows)
        if (rows.exportId === exportId)
          this.#set(
            place,
            exportId,
            rows.uuids.filter((uuid) => !known.has(uuid)),
          )
    this.#set(String(count), exportId, uuids)
  }

  #set(place: string, exportId: string, uuids: readonly string[]): void {
    this.#rows.set(place, { exportId, uuids })
  }

  #finish(subject: RunSubject, chunks: readonly DeliveredChunk[]): void {
    for (const { index } of chunks) this.#marks.delete(`${subject.runId}/${index}`)
    if (this.#kind !== 'files') return
    for (let index = 0; index < Math.max(chunks.length, subject.earlierChunkCount); index++)
      if (!chunks.some((chunk) => chunk.index === index && chunk.recordCount > 0))
        this.#rows.delete(fileOf(subject, index))
  }
}

/** The ledgers in the place of all destinations. */
export function destinationsOf({ files, table, stream }: Ledgers) {
  return { S3: files, Postgres: table, Redshift: table, HTTP: stream, NoOp: stream }
}

/** Columns of an export to a ledger, with a config that its type takes. */
export function destinationOf(kind: LedgerKind): Readonly<Record<string, unknown>> {
  switch (kind) {
    case 'files':
      return { destination_type: 'S3', destination_config: { bucket_name: 'b', region: 'r', prefix: '' } }
    case 'table': {
      const destination_config = { host: 'h', database: 'd', user: 'u', password: 'p' }
      return { destination_type: 'Postgres', destination_config }
    }
    case 'stream':
      return { destination_type: 'NoOp', destination_config: {} }
  }
}

/** The events of a chunk, in their order. */
export function uuidsOf({ path }: StagedChunk): string[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { uuid: string }).uuid)
}

function fileOf({ exportId, startMs, endMs }: RunSubject, index: number): string {
  return `${exportId}/${startMs}/${endMs}/${index}`
}
