// When exports run. A run covers one interval, [start, end), and is due at its end. Hours and five minutes are counted
// in UTC; days begin at midnight in the project's time zone, so that one of them may have 23 or 25 hours, and weeks
// with the Sunday.

import { unreachable } from '../lib/assert.ts'

export const intervals = ['hour', 'day', 'week', 'every 5 minutes'] as const
export type Interval = (typeof intervals)[number]

/** Milliseconds since the epoch, the end exclusive. */
export interface Span {
  readonly startMs: number
  readonly endMs: number
}

export interface Schedule {
  readonly interval: Interval
  /** A name of the tz database. */
  readonly timeZone: string
  /** No run is due before it; null for no such time. */
  readonly startAtMs: number | null
  /** No run is due after it; null for no such time. */
  readonly endAtMs: number | null
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const lengths: Readonly<Record<Interval, number>> = {
  hour: hourMs,
  day: dayMs,
  week: 7 * dayMs,
  'every 5 minutes': 5 * minuteMs,
}

/** How long an interval is, but for a change of the clocks. */
export function intervalMs(interval: Interval): number {
  return lengths[interval]
}

/** The latest start of an interval that is not after `ms`. */
export function boundaryBefore(interval: Interval, timeZone: string, ms: number): number {
  switch (interval) {
    case 'every 5 minutes':
    case 'hour':
      return Math.floor(ms / lengths[interval]) * lengths[interval]
    case 'day':
      return dayStart(timeZone, dayOf(timeZone, ms))
    case 'week':
      return dayStart(timeZone, sundayOf(dayOf(timeZone, ms)))
    default:
      return unreachable(interval)
  }
}

/** The earliest start of an interval that is after `ms`. */
export function boundaryAfter(interval: Interval, timeZone: string, ms: number): number {
  switch (interval) {
    case 'every 5 minutes':
    case 'hour':
      return boundaryBefore(interval, timeZone, ms) + lengths[interval]
    case 'day':
      return dayStart(timeZone, dayOf(timeZone, ms) + 1)
    case 'week':
      return dayStart(timeZone, sundayOf(dayOf(timeZone, ms)) + 7)
    default:
      return unreachable(interval)
  }
}

/** The intervals whose runs became due after `afterMs` and by `nowMs`, the oldest first, `countMax` at most. */
export function dueSpans(schedule: Schedule, afterMs: number, nowMs: number, countMax: number): Span[] {
  const { interval, timeZone, startAtMs, endAtMs } = schedule
  const lastMs = Math.min(nowMs, endAtMs ?? nowMs)
  const spans: Span[] = []
  let startMs = boundaryBefore(interval, timeZone, Math.max(afterMs, (startAtMs ?? 0) - 1))
  while (spans.length < countMax) {
    const endMs = boundaryAfter(interval, timeZone, startMs)
    if (endMs > lastMs) break
    spans.push({ startMs, endMs })
    startMs = endMs
  }
  return spans
}

/** The intervals that `span` touches, whole, the oldest first, `countMax` at most. */
export function wholeSpans(interval: Interval, timeZone: string, span: Span, countMax: number): Span[] {
  const spans: Span[] = []
  if (span.endMs <= span.startMs) return spans
  let startMs = boundaryBefore(interval, timeZone, span.startMs)
  while (startMs < span.endMs && spans.length < countMax) {
    const endMs = boundaryAfter(interval, timeZone, startMs)
    spans.push({ startMs, endMs })
    startMs = endMs
  }
  return spans
}

/** How many intervals `span` touches. */
export function countWithin(interval: Interval, timeZone: string, { startMs, endMs }: Span): number {
  if (endMs <= startMs) return 0
  return numberOf(interval, timeZone, endMs - 1) - numberOf(interval, timeZone, startMs) + 1
}

/** Intervals, counted from some moment on. */
function numberOf(interval: Interval, timeZone: string, ms: number): number {
  if (interval === 'day') return dayOf(timeZone, ms)
  if (interval === 'week') return sundayOf(dayOf(timeZone, ms)) / 7
  return Math.floor(ms / lengths[interval])
}

/** Making one costs more than a thousand uses. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** How far the clocks of a zone are ahead of UTC at `ms`, in milliseconds. */
function offsetMs(timeZone: string, ms: number): number {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(timeZone, format)
  }
  const parts = format.formatToParts(ms)
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value)
  const [year, month, day] = [part('year'), part('month') - 1, part('day')]
  const local = Date.UTC(year, month, day, part('hour'), part('minute'), part('second'))
  return local - Math.floor(ms / 1000) * 1000
}

/** The day that `ms` falls on in the zone, counted from 1970-01-01. */
function dayOf(timeZone: string, ms: number): number {
  return Math.floor((ms + offsetMs(timeZone, ms)) / dayMs)
}

/** The Sunday on or before a day; 1970-01-01 was a Thursday. */
function sundayOf(day: number): number {
  return Math.floor((day + 4) / 7) * 7 - 4
}

/** The first moment of a day in the zone. Where clocks are put forward at midnight, that is when they were. */
function dayStart(timeZone: string, day: number): number {
  const midnight = day * dayMs
  const before = midnight - offsetMs(timeZone, midnight - dayMs)
  const after = midnight - offsetMs(timeZone, midnight + dayMs)
  const [first, second] = [Math.min(before, after), Math.max(before, after)]
  return first + offsetMs(timeZone, first) === midnight ? first : second
}
