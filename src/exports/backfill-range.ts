// The time that a backfill covers, as a caller asks for it. Pure.

import { ServiceError } from '../errors.ts'
import { boundaryBefore, type Interval, intervalMs } from './interval.ts'

export interface GivenRange {
  readonly start_at?: unknown
  readonly end_at?: unknown
}

export interface BackfillOptions {
  readonly interval: Interval
  readonly timeZone: string
  /** Some destinations can be filled up to whatever comes. */
  readonly canBeEndless: boolean
  readonly nowMs: number
  /** When the first thing to export happened; null when there is nothing. */
  readonly earliestMs: number | null
}

/** Milliseconds since the epoch, the end exclusive. */
export interface BackfillRange {
  /** Null is from the beginning, in a single run. */
  readonly startMs: number | null
  /** Null is without end. */
  readonly endMs: number | null
}

const iso =
  /^\d{4}-\d\d-\d\d(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,6})?)?)?(?<offset>Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** Errors: invalid_input, in PostHog's words. */
export function readBackfillRange(given: GivenRange, options: BackfillOptions): BackfillRange {
  const { interval, timeZone, canBeEndless, nowMs, earliestMs } = options
  const startMs = readMoment(given.start_at)
  const endMs = readMoment(given.end_at)
  if (startMs !== null && endMs !== null && startMs >= endMs) {
    throw fault("The initial backfill datetime 'start_at' happens after 'end_at'")
  }
  const latestMs = nowMs + intervalMs(interval)
  if (endMs !== null && endMs > latestMs) {
    throw fault(
      `The provided 'end_at' (${textOf(endMs)}) is too far into the future. ` +
        `Cannot backfill beyond ${textOf(latestMs)}`,
    )
  }
  if (endMs === null && !canBeEndless) {
    throw fault('Backfilling a BatchExport with no end date is not allowed')
  }
  if (earliestMs === null) throw fault('There is no data to backfill for this model.')
  const firstMs = boundaryBefore(interval, timeZone, earliestMs)
  if (endMs !== null && endMs <= firstMs) {
    throw fault(
      'The provided backfill date range contains no data. ' +
        `The earliest possible backfill start date is ${textOf(firstMs)}`,
    )
  }
  return { startMs: startMs === null ? null : Math.max(startMs, firstMs), endMs }
}

/** Errors: invalid_input for what is no ISO 8601 date and time, or has no zone. */
function readMoment(value: unknown): number | null {
  if (value === null || value === undefined) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const match = typeof value === 'string' ? iso.exec(value) : null
  const offset = match?.groups?.offset
  const ms = match === null ? Number.NaN : parse(text)
  if (Number.isNaN(ms)) {
    throw fault(`Input ${text.slice(0, 100)} is not a valid ISO formatted datetime.`)
  }
  if (offset === undefined) throw fault(`Input ${text} is naive.`)
  return ms
}

/** Date.parse wants minutes and a colon in the offset. */
function parse(text: string): number {
  const full = text
    .replace(' ', 'T')
    .replace(',', '.')
    .replace(/T(\d\d)(?=$|Z|[+-])/i, 'T$1:00')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
    .replace(/(T.*[+-]\d\d)$/, '$1:00')
  return Date.parse(full)
}

function textOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

function fault(detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail })
}
