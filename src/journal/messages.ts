// What the main thread and a lane's thread say to each other. Errors cross as plain values: a thread boundary strips
// them of their code.

import type { ErrorCode } from '../errors.ts'
import type { AppendMessage } from './append-message.ts'
import type { Position } from './journal.ts'
import type { LogLevel } from './lane-options.ts'
import type { LaneStatus } from './lane-report.ts'

export type ToLane =
  | AppendMessage
  | { readonly kind: 'release'; readonly position: Position }
  | { readonly kind: 'close' }

export type FromLane =
  | { readonly kind: 'opened'; readonly status: LaneStatus }
  | { readonly kind: 'refused_to_open'; readonly code: ErrorCode; readonly detail: string }
  /** Four numbers a chain: id, position, end, duplicate count. */
  | { readonly kind: 'committed'; readonly acks: readonly number[]; readonly status: LaneStatus }
  | { readonly kind: 'refused'; readonly ids: readonly number[]; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }
  | { readonly kind: 'status'; readonly status: LaneStatus }
  | {
      readonly kind: 'log'
      readonly level: LogLevel
      readonly message: string
      readonly fields: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'closed'; readonly status: LaneStatus }
