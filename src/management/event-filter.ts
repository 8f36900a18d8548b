// The filters of the event list, read from its query; the list of persons shares those on properties.

import { parseTimestamp } from '../capture/timestamp.ts'
import { ServiceError } from '../errors.ts'
import type { EventCursor } from '../events/list.ts'
import { type PropertyFilter, type PropertyValue, propertyOperators } from '../events/property-filter.ts'
import { type Micros, microsFromMs } from '../lib/clock.ts'

/** Filters on properties in one request. */
const propertyFiltersMax = 50
/** Values of one filter. */
const filterValuesMax = 500

/** The store counts microseconds in 64 bits. */
const momentMicrosMax = 9.2e18

const msPerUnit: Readonly<Record<string, number>> = {
  s: 1000,
  M: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}
/** Months, for the units that follow the calendar. */
const monthsPerUnit: Readonly<Record<string, number>> = { m: 1, q: 3, y: 12 }

/**
 * Reads a point in time: a timestamp, or how long ago, such as `-24h`, `-7d`, `-1m` (M minutes, m months).
 * Errors: invalid_input naming `attr`.
 */
export function readMoment(text: string, attr: string, nowMs: number): Micros {
  const relative = /^-(\d{1,5})([sMhdwmqy])$/.exec(text)
  if (relative !== null) {
    const count = Number(relative[1])
    const unit = relative[2] ?? ''
    const months = monthsPerUnit[unit]
    if (months === undefined) return microsFromMs(Math.floor(nowMs - count * (msPerUnit[unit] ?? 0)))
    return microsFromMs(monthsBefore(nowMs, count * months))
  }
  const micros = parseTimestamp(text)
  if (micros !== null && Math.abs(micros) <= momentMicrosMax) return micros
  const detail = 'Expected a timestamp such as 2024-05-01T12:00:00Z, or a time ago such as -24h or -7d.'
  throw new ServiceError('invalid_input', { detail, attr })
}

/** The same day and time that many months earlier, or the last day of a shorter month. */
function monthsBefore(nowMs: number, months: number): number {
  const date = new Date(nowMs)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() - months)
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.setUTCDate(Math.min(day, lastDay))
}

/** Whose properties are filtered. */
type PropertyOwner = 'event' | 'person'

/**
 * Reads `properties`: a JSON array of {key, value, operator, type}, where operator is `exact` and type `owner` when
 * absent.
 * Errors: invalid_input.
 */
export function readPropertyFilters(text: string, owner: PropertyOwner = 'event'): PropertyFilter[] {
  const filters = parse(text)
  if (!Array.isArray(filters)) throw badProperties('Expected a JSON array of {key, value, operator, type}.')
  if (filters.length > propertyFiltersMax)
    throw badProperties(`Expected at most ${propertyFiltersMax} filters.`)
  return filters.map((filter) => readPropertyFilter(filter, owner))
}

function readPropertyFilter(filter: unknown, owner: PropertyOwner): PropertyFilter {
  if (typeof filter !== 'object' || filter === null) throw badProperties('A filter is an object.')
  // An object has keys of any value.
  const { key, value = null, operator = 'exact', type = owner } = filter as Record<string, unknown>
  if (typeof key !== 'string') throw badProperties('A filter needs a key, which is text.')
  if (type !== owner)
    throw badProperties(`Expected the type "${owner}": only properties of ${owner}s are filtered here.`)
  const known = propertyOperators.find((one) => one === operator)
  if (known === undefined) throw badProperties(`Expected an operator of ${propertyOperators.join(', ')}.`)
  if (Array.isArray(value)) {
    if (value.length > filterValuesMax) throw badProperties(`Expected at most ${filterValuesMax} values.`)
    return { key, operator: known, value: value.map(readValue) }
  }
  return { key, operator: known, value: readValue(value) }
}

function readValue(value: unknown): PropertyValue {
  const isScalar = value === null || ['string', 'number', 'boolean'].includes(typeof value)
  if (!isScalar) throw badProperties('A value is text, a number, a boolean, null or a list of these.')
  return value as PropertyValue // checked in the line above
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceError('invalid_input', {
      detail: 'Properties are unparsable!',
      attr: 'properties',
      cause,
    })
  }
}

function badProperties(detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail, attr: 'properties' })
}

/** A cursor as text for links; its form is nobody's business but ours. */
export function encodeCursor({ timestampMicros, lane, position, index }: EventCursor): string {
  return Buffer.from(JSON.stringify([timestampMicros, lane, position, index])).toString('base64url')
}

/** Errors: invalid_input for text that `encodeCursor` did not make. */
export function decodeCursor(text: string): EventCursor {
  const values = cursorValues(text)
  if (values === null) {
    throw new ServiceError('invalid_input', { detail: 'Expected the cursor of a next link.', attr: 'cursor' })
  }
  const [timestampMicros, lane, position, index] = values
  return { timestampMicros: timestampMicros as Micros, lane, position, index } // encoded from Micros
}

/** Largest values of the columns that lane and index are stored in. */
const laneMax = 255
const indexMax = 0xffffffff

function cursorValues(text: string): [number, number, number, number] | null {
  const numbers = /^\[(-?\d{1,18}),(\d{1,3}),(\d{1,16}),(\d{1,10})\]$/.exec(
    Buffer.from(text, 'base64url').toString(),
  )
  if (numbers === null) return null
  const [timestamp = 0, lane = 0, position = 0, index = 0] = numbers.slice(1).map(Number)
  return lane <= laneMax && index <= indexMax ? [timestamp, lane, position, index] : null
}
