// What one lane's writer needs to know; plain values, so that they can be sent to its thread. No field is optional.

import type { Lane } from './journal.ts'

export type LogLevel = 'info' | 'warn' | 'error'
export type Log = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void

export interface LaneSettings {
  readonly lane: Lane
  /** The lane's own folder. */
  readonly dir: string
  readonly quarantineDir: string
  /** The lineage that every segment must belong to. */
  readonly epoch: string
  /** A segment is ended before the chain that would make it longer; a single chain may be. */
  readonly segmentBytes: number
  /** Released segments beyond this are deleted, oldest first. */
  readonly keepBytes: number
  /** Released segments older than this are deleted. */
  readonly keepMs: number
  readonly dedupWindowEvents: number
  /** Appends are refused when the disk has less room. */
  readonly freeBytesMin: number
  /** A sync follows at least every so many bytes. */
  readonly syncBytesMax: number
  /** Where a crash test wants the process to end, see kill-point.ts. */
  readonly killAt: string | null
}

export interface LaneOptions extends LaneSettings {
  readonly log: Log
}
