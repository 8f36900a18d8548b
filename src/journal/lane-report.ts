// What a lane's writer says of itself.

import type { ServiceError } from '../errors.ts'
import type { Position } from './journal.ts'

/** Outcomes; each append has exactly one. */
export interface LaneReport {
  /** Four numbers for each chain: id, position, end, duplicate count. */
  committed(acks: readonly number[]): void
  /** The chains of these ids were refused with journal_full; nothing of them counts. */
  refused(ids: readonly number[], detail: string): void
  /** Every chain waiting, and every later one, is refused with journal_failed. */
  failed(error: ServiceError): void
}

/** LaneState without what only the appending side knows. */
export interface LaneStatus {
  readonly oldest: Position
  readonly committed: Position
  readonly storedBytes: number
  readonly damagedBytes: number
  readonly isFull: boolean
  readonly commitCount: number
  readonly commitMsTotal: number
}
