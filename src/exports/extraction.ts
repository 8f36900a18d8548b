// How a run takes its rows: chunk by chunk, each staged in a file. Every model has an extraction of its own.

import type { Extracted, ExtractRequest } from '../events/extract.ts'
import type { Copies } from '../events/selects.ts'
import type { StagedFormat } from './delivery.ts'
import type { GivenConfig } from './destination.ts'

/** What comes behind a cursor. */
export interface Taken {
  /** Null when the chunk has no row, so that nothing was staged. */
  readonly extracted: Extracted | null
  /** Where the next chunk begins, as text. */
  readonly cursor: string
  /** True when nothing is behind it. */
  readonly isLast: boolean
}

export interface Extraction {
  /** Rows in all, as far as is known now; null when counting them is as much work as taking them. */
  count(): Promise<number | null>
  /**
   * Stages what follows `cursor`, null being the beginning, in the file at `path`. `sentTo` is where the chunk ended
   * that may be at the destination already, and null when none is: where rows are added it ends there again.
   */
  next(cursor: string | null, path: string, signal: AbortSignal, sentTo: string | null): Promise<Taken>
}

/** What is asked of the events store. */
export interface EventsStore {
  query(
    sql: string,
    values?: readonly (string | number | bigint | boolean | null)[],
  ): Promise<{
    readonly rows: readonly (readonly unknown[])[]
  }>
  queryForExport(
    sql: string,
    values?: readonly (string | number | bigint | boolean | null)[],
  ): Promise<{
    readonly rows: readonly (readonly unknown[])[]
  }>
  extract(
    request: ExtractRequest,
    onCancel: (cancel: () => void) => void,
    copies?: Copies | null,
  ): Promise<Extracted>
}

/** What every extraction needs of a run. */
export interface Subject {
  readonly projectId: number
  /** In the words of boundary.ts. */
  readonly stretchStart: string | null
  readonly stretchEnd: string
  /** True while no other run has been planned for what comes behind the stretch. */
  readonly isNewest: boolean
  readonly query: string | null
  readonly filters: unknown
  readonly config: GivenConfig
  readonly format: StagedFormat
  /** As the destination says. */
  readonly hasPersonProperties: boolean
  /** Of a chunk, as text that is not compressed. */
  readonly chunkBytesMax: number
}

/** A chunk is repeated whole after a crash, is held in memory by no one, and is to be worth a file. */
export const chunkRowsMax = 100_000
export const chunkBytesMax = 128 * 1024 * 1024

/** Ends an extraction in DuckDB when `signal` is aborted. Errors: its reason. */
export async function extractWith(
  store: EventsStore,
  request: ExtractRequest,
  signal: AbortSignal,
  copies: Copies | null = null,
): Promise<Extracted> {
  signal.throwIfAborted()
  let stop = (): void => {}
  const onAbort = (): void => stop()
  signal.addEventListener('abort', onAbort)
  try {
    const onCancel = (cancel: () => void): void => {
      stop = cancel
    }
    return await store.extract(request, onCancel, copies)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
