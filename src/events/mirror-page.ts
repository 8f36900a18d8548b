// What the mirror of Postgres is sent, and where it stands: plain values between the threads.

import type { StoreChange } from '../identity/changes.ts'

/** Where the mirror stands. */
export interface MirrorCursor {
  /** Of the outbox, whose changes up to `seq` are in the mirror. */
  readonly epoch: string
  readonly seq: number
  /** What the outbox has marked that change with; null where `seq` is 0. */
  readonly mark: string | null
  /** What the mirror lacks before it can be read, in the words of whoever copies its base; null once it can be. */
  readonly rest: string | null
}

/** One change, in its place in the outbox; rows of a base have the place at which the base was begun. */
export interface MirrorChange {
  readonly seq: number
  readonly change: StoreChange
}

/** What leads the mirror from one place to the next. */
export interface MirrorPage {
  /** Where the mirror must stand; null when it has nothing yet. */
  readonly from: MirrorCursor | null
  readonly to: MirrorCursor
  /** True when `to` begins a new generation, and what the mirror has is of no use any more. */
  readonly isAnew: boolean
  readonly changes: readonly MirrorChange[]
}

export interface Mirrored {
  /** Null while the mirror has nothing. */
  readonly cursor: MirrorCursor | null
  /** True when `tend` has something to do. */
  readonly isTendingDue: boolean
}

export function sameCursor(left: MirrorCursor | null, right: MirrorCursor | null): boolean {
  if (left === null || right === null) return left === right
  const { epoch, seq, mark, rest } = left
  return epoch === right.epoch && seq === right.seq && mark === right.mark && rest === right.rest
}
