// What a run of an export and its destination say to each other.
//
// A run takes its rows in chunks, each of a bounded size, written into a staging file in the format that the
// destination asks for. It hands one chunk at a time to the destination; once `deliver` has resolved, the run commits
// in Postgres how far it is, and removes the file. A crash in between repeats that one chunk, with the same index and
// the same rows, but for those that were deleted meanwhile. So a destination sees to it that a chunk delivered again
// has no second effect.

import type { Outbound } from '../outbound/outbound.ts'
import type { DestinationConfig } from './destination.ts'

export type Model = 'events' | 'persons' | 'sessions'

/** The form of a staging file, as DuckDB's COPY writes it. */
export interface StagedFormat {
  readonly kind: 'parquet' | 'jsonl' | 'csv'
  /**
   * DuckDB's names: for parquet zstd, lz4, snappy, gzip or brotli; for jsonl and csv gzip or zstd. Null is as it is;
   * what DuckDB cannot do (brotli of text) the destination does to the file itself.
   */
  readonly compression: 'zstd' | 'lz4' | 'snappy' | 'gzip' | 'brotli' | null
}

/** What a run exports: what prefixes of files and marks in tables are made of. */
export interface RunSubject {
  readonly exportId: string
  readonly runId: string
  readonly projectId: number
  readonly model: Model
  /** The interval, [start, end), in milliseconds since the epoch; a start of null is the beginning of time. */
  readonly startMs: number | null
  readonly endMs: number
  readonly isBackfill: boolean
  /** True when an earlier run of the export may have delivered some of the same rows. */
  readonly mayRepeat: boolean
  /** How many chunks earlier runs of this very interval may have delivered, at most. */
  readonly earlierChunkCount: number
  /** The export's query, whose columns are its own; null for the columns of the model. */
  readonly hogqlQuery: string | null
}

export type ColumnType = 'text' | 'json' | 'timestamp' | 'uuid' | 'bigint' | 'double' | 'boolean'

export interface Column {
  readonly name: string
  /**
   * Types in the file: parquet has json and uuid as text and timestamp as microseconds in UTC; jsonl has json as a
   * value of its own and timestamp as ISO 8601 with Z and six digits; csv has a header, and NULL as nothing where an
   * empty text is `""`.
   */
  readonly type: ColumnType
}

export interface StagedChunk {
  /** From 0 on, without gaps among the chunks that have rows: one without any is not delivered. */
  readonly index: number
  readonly path: string
  readonly bytes: number
  readonly recordCount: number
  readonly columns: readonly Column[]
  /** True when nothing follows. It may be false for the last one, when what was behind it held no row. */
  readonly isLast: boolean
}

/** What a delivered chunk is remembered by, across crashes; without records when all were deleted meanwhile. */
export type DeliveredChunk = Pick<StagedChunk, 'index' | 'recordCount' | 'bytes'>

/** Resolves when ingestion can spare a processor again. Errors: the reason of the delivery's signal. */
export type GiveWay = (bytes: number) => Promise<void>

/** A connection to a destination for one attempt at a run; it may begin in the middle of one. */
export interface Delivery {
  /**
   * Resolves when the destination has the chunk for good. The file is the run's: do not change or remove it.
   * Who works much for a chunk calls `giveWay` on the way, with the bytes of the file that were worked on since.
   * Errors: DeliveryError; when `signal` is aborted, its reason.
   */
  deliver(chunk: StagedChunk, signal: AbortSignal, giveWay?: GiveWay): Promise<void>
  /**
   * Called once all of the run's chunks are there, those of earlier attempts too; again after a crash. A run without
   * chunks is told of only where an earlier one may have delivered some.
   */
  finish(chunks: readonly DeliveredChunk[], signal: AbortSignal): Promise<void>
  /** Lets go of everything, whatever has become of the run. Never rejects. */
  close(): Promise<void>
}

export interface Destination {
  /**
   * True where rows take the place of those that earlier runs may have delivered: two runs of an export that may have
   * rows in common then do not go at once.
   */
  readonly isReplacing: boolean
  /**
   * True where events carry their persons' properties. A chunk of them that comes again after a crash may end
   * elsewhere: only for who overwrites the first with it.
   */
  readonly hasPersonProperties: boolean
  format(config: DestinationConfig): StagedFormat
  /** Bytes that a file shall not be much larger than, as stored; null for no limit of its own. */
  chunkBytesMax(config: DestinationConfig): number | null
  /** Errors: DeliveryError; when `signal` is aborted, its reason. */
  open(
    /** With its secrets. */
    config: DestinationConfig,
    subject: RunSubject,
    outbound: Outbound,
    signal: AbortSignal,
  ): Promise<Delivery>
}

/**
 * Why a destination does not take what it was given. `temporary` may pass by itself (network, 5xx, throttling, a full
 * disk): the chunk is tried again later. `permanent` needs somebody to do something (credentials, permissions, a bucket
 * or table that is not there, a column of the wrong type): the run has failed.
 */
export class DeliveryError extends Error {
  readonly kind: 'temporary' | 'permanent'

  /** `sentence` is for the export's owner: what is wrong and what would help. It never holds a secret. */
  constructor(kind: DeliveryError['kind'], sentence: string, cause?: unknown) {
    super(sentence, { cause })
    this.name = 'DeliveryError'
    this.kind = kind
  }
}
