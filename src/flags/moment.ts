// Moments in filters: absolute ones, and distances into the past such as `-7d`, which are measured anew at every
// evaluation.

import { parseTimestamp } from '../capture/timestamp.ts'

export type DateOrder = (propertyMs: number, filterMs: number) => boolean

/** A distance is at most one less than this of its unit. */
const distanceEnd = 10_000
/** What a Date can hold. */
const secondsMax = 8.64e12
const msByUnit = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

/** Returns the test of a property against the moment in a filter; whatever is no moment on either side fails it. */
export function comparesMoments(
  wanted: unknown,
  order: DateOrder,
): (value: unknown, nowMs: number) => boolean {
  if (typeof wanted !== 'string') return () => false
  const distance = /^-?(\d+)([hdwmy])$/.exec(wanted)
  const fixedMs = distance === null ? textMs(wanted) : Number.NaN
  const count = Number(distance?.[1])
  if (distance !== null && count >= distanceEnd) return () => false
  return (value, nowMs) => {
    const propertyMs = momentMs(value)
    // A match of the pattern above has both groups.
    const limitMs = distance === null ? fixedMs : backFrom(nowMs, count, distance[2] as DistanceUnit)
    return !Number.isNaN(propertyMs) && !Number.isNaN(limitMs) && order(propertyMs, limitMs)
  }
}

type DistanceUnit = keyof typeof msByUnit | 'm' | 'y'

/** Months and years are the calendar's: the day of the month is kept, or is the last one of a shorter month. */
function backFrom(nowMs: number, count: number, unit: DistanceUnit): number {
  if (unit !== 'm' && unit !== 'y') return nowMs - count * msByUnit[unit]
  const date = new Date(nowMs)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() - (unit === 'm' ? count : 12 * count))
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.setUTCDate(Math.min(day, lastDay))
}

/** Epoch ms of a property: text, or Unix seconds as a number or its text; NaN for anything else. */
function momentMs(value: unknown): number {
  if (typeof value === 'number') return secondsMs(value)
  if (typeof value !== 'string') return Number.NaN
  return /^[+-]?\d+(?:\.\d+)?$/.test(value) ? secondsMs(Number(value)) : textMs(value)
}

/** Seconds beyond every calendar are no moment. */
function secondsMs(seconds: number): number {
  return Math.abs(seconds) <= secondsMax ? seconds * 1000 : Number.NaN
}

function textMs(text: string): number {
  const micros = parseTimestamp(text.trim().replace(/ (?=[+-]\d\d:?\d\d$)/, ''))
  return micros === null ? Number.NaN : micros / 1000
}
