// What the main thread and the events thread say to each other: plain values both ways. An error thrown in a pool
// thread loses its code on the way, so an answer carries it as a value.

import type { Offsets, Positions } from '../consumer/offset.ts'
import { type ErrorCode, isServiceError, ServiceError } from '../errors.ts'
import type { JournalState } from '../journal/journal.ts'
import type { StepOutcome } from './consumer.ts'
import type { CopiedPage, TemporaryTable } from './copied-rows.ts'
import type { Extracted, ExtractTask } from './extract.ts'
import { messageOf } from './failure.ts'
import type { EventFilter, EventPage } from './list.ts'
import type { MirrorCursor, Mirrored, MirrorPage } from './mirror-page.ts'
import type { Counts } from './progress.ts'
import type { Selected, SelectTask } from './select.ts'
import type { SelectParquetTask } from './select-parquet.ts'

export interface OpenTask {
  readonly kind: 'open'
  readonly dataDir: string
  readonly journalDir: string
  /** As of now. */
  readonly journal: JournalState
  readonly memoryLimitBytes: number
  readonly threads: number
  readonly killAt: string | null
}

export interface Opened {
  readonly offsets: Offsets
  readonly counts: Counts
  /** What had to be done to open the store, one sentence each. */
  readonly remedies: readonly string[]
  /** Why loading cannot go on; null when it can. */
  readonly reason: string | null
  readonly mirrored: Mirrored
}

export interface Checkpointed {
  /** Everything before these offsets is in the file itself. Null when reads kept the checkpoint from happening. */
  readonly offsets: Offsets | null
  /** Where the mirror stood. */
  readonly mirrored: MirrorCursor | null
  readonly walBytes: number
}

/** A parameter of a query. */
export type QueryValue = string | number | bigint | boolean | null

export interface QueryResult {
  readonly columns: readonly string[]
  /** Values as JSON has them; BIGINTs and wider as text. */
  readonly rows: readonly (readonly unknown[])[]
}

export interface Stepped {
  readonly outcome: StepOutcome
  readonly walBytes: number
  /** Journal bytes that a step is worth waiting for. */
  readonly rowGroupBytes: number
}

export interface Mirroring extends Mirrored {
  readonly walBytes: number
}

export interface CopiesTask {
  readonly kind: 'prepare_copies'
  /** Of the select that will read them. */
  readonly id: number
  readonly tables: readonly TemporaryTable[]
}

export interface FillTask {
  readonly kind: 'fill_copy'
  readonly id: number
  readonly projectId: number
  readonly page: CopiedPage
}

/** What the thread does, with the answer each gets. */
export interface EventsTasks {
  open: [task: OpenTask, answer: Opened]
  step: [task: { readonly kind: 'step'; readonly committed: Positions }, answer: Stepped]
  checkpoint: [task: { readonly kind: 'checkpoint' }, answer: Checkpointed]
  mirror: [task: { readonly kind: 'mirror'; readonly page: MirrorPage }, answer: Mirroring]
  tend_mirror: [task: { readonly kind: 'tend_mirror' }, answer: Mirroring]
  list: [task: { readonly kind: 'list'; readonly filter: EventFilter }, answer: EventPage]
  query: [
    task: {
      readonly kind: 'query'
      readonly sql: string
      readonly values: readonly QueryValue[]
      readonly isForExport: boolean
    },
    answer: QueryResult,
  ]
  /** Gives the select of this id a connection of its own, with empty temporary tables. */
  prepare_copies: [task: CopiesTask, answer: null]
  /** Adds rows to one of them. */
  fill_copy: [task: FillTask, answer: null]
  /** Closes that connection. */
  drop_copies: [task: { readonly kind: 'drop_copies'; readonly id: number }, answer: null]
  select: [task: SelectTask, answer: Selected]
  /** Answers the bytes of the file. */
  select_parquet: [task: SelectParquetTask, answer: Uint8Array]
  extract: [task: ExtractTask, answer: Extracted]
  /** Interrupts the select, of either kind, or extract of this id, if it is running. */
  cancel: [task: { readonly kind: 'cancel'; readonly id: number }, answer: null]
  close: [task: { readonly kind: 'close' }, answer: null]
}

export type EventsTask = EventsTasks[keyof EventsTasks][0]

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: ErrorCode; readonly detail: string }

/** Runs `work` and puts what comes of it into an answer. Errors without a code become `internal`. */
export async function answer<T>(work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (error) {
    if (isServiceError(error)) return { ok: false, code: error.code, detail: error.detail }
    return { ok: false, code: 'internal', detail: messageOf(error) }
  }
}

/** The value of an answer, or its error thrown. */
export function valueOfAnswer<T>(given: Answer<T>): T {
  if (given.ok) return given.value
  throw new ServiceError(given.code, { detail: given.detail })
}
