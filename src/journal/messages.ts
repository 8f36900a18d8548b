// What the main thread and a lane's thread say to each other, beside the short chains and the status in the memory that
// they share (lane-line.ts). Errors cross as plain values: a thread boundary strips them of their code.

import type { ErrorCode } from '../errors.ts'
import type { Chain } from './append-ring.ts'
import type { Position } from './journal.ts'
import type { LaneMemory } from './lane-line.ts'
import type { LaneSettings, LogLevel } from './lane-options.ts'
import type { Parcel } from './parcel.ts'

/** What a lane's thread is started with. */
export interface LaneStart {
  readonly settings: LaneSettings
  readonly memory: LaneMemory
}

export type ToLane =
  /** Its buffers are moved. */
  | { readonly kind: 'append'; readonly chain: Chain }
  /** Its port is moved. */
  | { readonly kind: 'append_parcel'; readonly parcel: Parcel }
  | { readonly kind: 'release'; readonly position: Position }
  | { readonly kind: 'close' }

/**
 * What was committed: four numbers a chain, which are its id, position, end and duplicate count. The id of a chain is
 * how many were sent before it. A list of numbers is taken apart in less time than objects (bench/README.md).
 */
export type Acks = readonly number[]

export type FromLane =
  | Acks
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused_to_open'; readonly code: ErrorCode; readonly detail: string }
  | { readonly kind: 'refused'; readonly ids: readonly number[]; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }
  | {
      readonly kind: 'log'
      readonly level: LogLevel
      readonly message: string
      readonly fields: Readonly<Record<string, unknown>>
    }
