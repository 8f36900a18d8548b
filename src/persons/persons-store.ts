// What the persons consumer asks of a store: one step is one transaction, which holds what the events changed and the
// offsets they lead to. There are two: Postgres, and one in memory for tests, held to the same by a contract suite.

import type { Marks } from '../consumer/mark.ts'
import type { Offset, Offsets } from '../consumer/offset.ts'
import type { Warning } from '../identity/changes.ts'
import type { UnreadInput } from '../identity/operations.ts'
import type { JournalGap, Lane } from '../journal/journal.ts'
import type { Touched } from './touched.ts'

/** Where a store stands. */
export interface StoredProgress {
  /** Of the journal it was loaded from. */
  readonly epoch: string
  readonly offsets: Offsets
  /** Of the last records that were applied. */
  readonly marks: Marks
  /** Null for a store without an outbox. */
  readonly changes: ChangesEnd | null
}

/** Where the outbox ends: its last change. */
export interface ChangesEnd {
  readonly epoch: string
  readonly seq: number
}

/** A stretch of the journal, ready to be applied. */
export interface PersonsStep {
  /** Where the store must stand. */
  readonly from: Offsets
  /** Where it stands afterwards. */
  readonly to: Offsets
  /** Of the last record of each lane that is in the step; null for a lane without one. */
  readonly marks: Marks
  /** In the order in which they are applied. */
  readonly inputs: readonly UnreadInput[]
  readonly gaps: readonly LaneGap[]
  readonly setAside: readonly SetAsideEvent[]
  /** At most one for each project. */
  readonly spikes: readonly Warning[]
  readonly nowMs: number
}

export interface LaneGap extends JournalGap {
  readonly lane: Lane
}

/** An event whose effect cannot be stored; `file` holds it. */
export interface SetAsideEvent {
  readonly lane: Lane
  readonly offset: Offset
  readonly projectId: number
  readonly uuid: string
  readonly error: string
  readonly file: string
}

export interface PersonsStore {
  /** Where the outbox ended when the store was taken, or the last step was applied. */
  readonly changes: ChangesEnd | null
  /** What the last step changed; null after the store was taken. */
  readonly touched: Touched
  /**
   * Takes the store for this process, with a connection of its own, and reads where it stands; a store that is new
   * begins with the journal `epoch`. What was taken before is given up.
   * Errors: store_fenced while another process has it; postgres_unavailable.
   */
  take(epoch: string): Promise<StoredProgress>
  /**
   * Applies a step. Resolves to false when the rows it needs are too many bytes to be in memory at once: nothing was
   * applied then, and smaller steps will do.
   * Errors: store_fenced when the store is not where the step begins; postgres_unavailable (the step may have been
   * applied); errors of statements and of the fold. After any of them the store must be taken again.
   */
  apply(step: PersonsStep): Promise<boolean>
  /** Gives the store up. */
  close(): Promise<void>
}
