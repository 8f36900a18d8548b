// Text, numbers and booleans as a caller may write them, with the framework's coercions and its wording of what is
// wrong with them.

import { type ErrorCode, ServiceError } from '../errors.ts'
import { parseEmail } from '../lib/email.ts'
import type { InputSchema } from './input-schema.ts'

const truths: ReadonlySet<unknown> = new Set(['t', 'y', 'yes', 'true', 'on', '1', 1, true])
const falsehoods: ReadonlySet<unknown> = new Set(['f', 'n', 'no', 'false', 'off', '0', 0, false])
/** Half of a character; pairs are read as one. */
const loneSurrogate = /\p{Surrogate}/u
/** Longer text is no number: reading it would cost more than refusing it. */
const numberLengthMax = 1000

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const url = /^https?:\/\/[^\s/?#]+[^\s]*$/i
/**
 * Date, time and zone: a time without zone would mean another moment to each reader. Postgres knows no zone 16 hours
 * away.
 */
const dateTime =
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)$/i

const formats: Readonly<Record<string, { pattern: RegExp; detail: string }>> = {
  uuid: { pattern: uuid, detail: 'Must be a valid UUID.' },
  uri: { pattern: url, detail: 'Enter a valid URL.' },
  'date-time': {
    pattern: dateTime,
    detail:
      'Datetime has wrong format. Use one of these formats instead: ' +
      'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
  },
}

/** An address may be left blank, but what is no text where it is stored cannot. */
const neverBlank: ReadonlySet<string | undefined> = new Set(['uuid', 'date-time'])

/** Reads text: numbers are printed, space around it goes, blank is refused where `minLength` is 1. */
export function readText(schema: InputSchema, value: unknown, attr: string | null): string {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw fault('invalid_input', attr, 'Not a valid string.')
  const text = String(value).trim()
  checkStorable(text, attr)
  if (text === '' && (schema.minLength ?? 0) > 0) throw fault('blank', attr, 'This field may not be blank.')
  if (schema.maxLength !== undefined && [...text].length > schema.maxLength) {
    throw fault('max_length', attr, `Ensure this field has no more than ${schema.maxLength} characters.`)
  }
  if (schema.format === 'email' && text !== '') return readEmail(text, attr)
  const format = schema.format === undefined ? undefined : formats[schema.format]
  const isLeftBlank = text === '' && !neverBlank.has(schema.format)
  if (!isLeftBlank && format !== undefined && !isOf(format.pattern, schema.format, text)) {
    throw fault('invalid_input', attr, format.detail)
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(text)) {
    throw fault('invalid_input', attr, 'Enter a valid value.')
  }
  return text
}

/** In the one form that the address has. */
function readEmail(text: string, attr: string | null): string {
  const email = parseEmail(text)
  if (email === null) throw fault('invalid_input', attr, 'Enter a valid email address.')
  return email
}

/** Errors: invalid_input for what Postgres stores in no text. */
export function checkStorable(text: string, attr: string | null): void {
  if (text.includes('\0')) throw fault('invalid_input', attr, 'Null characters are not allowed.')
  if (loneSurrogate.test(text)) throw fault('invalid_input', attr, 'Not a valid string.')
}

function isOf(pattern: RegExp, format: string | undefined, text: string): boolean {
  return pattern.test(text) && (format !== 'date-time' || isMoment(text))
}

/** Date.parse takes February 30th for a day in March, which no other reader does. */
function isMoment(text: string): boolean {
  const day = text.slice(0, 10)
  const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true
  return isDay && !Number.isNaN(Date.parse(text.replace(',', '.')))
}

export function readInteger(schema: InputSchema, value: unknown, attr: string | null): number {
  const isText =
    typeof value === 'string' && value.length <= numberLengthMax && /^\s*[+-]?\d+(?:\.0*)?\s*$/.test(value)
  const number = isText ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) {
    throw fault('invalid_input', attr, 'A valid integer is required.')
  }
  return inRange(schema, number, attr)
}

export function readNumber(schema: InputSchema, value: unknown, attr: string | null): number {
  const isText = typeof value === 'string' && value.length <= numberLengthMax && value.trim() !== ''
  const number = isText ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw fault('invalid_input', attr, 'A valid number is required.')
  }
  return inRange(schema, number, attr)
}

function inRange({ minimum, maximum }: InputSchema, number: number, attr: string | null): number {
  if (maximum !== undefined && number > maximum) {
    throw fault('max_value', attr, `Ensure this value is less than or equal to ${maximum}.`)
  }
  if (minimum !== undefined && number < minimum) {
    throw fault('min_value', attr, `Ensure this value is greater than or equal to ${minimum}.`)
  }
  return number
}

export function readBoolean(value: unknown, attr: string | null): boolean {
  const plain = typeof value === 'string' ? value.trim().toLowerCase() : value
  if (truths.has(plain)) return true
  if (falsehoods.has(plain)) return false
  throw fault('invalid_input', attr, 'Must be a valid boolean.')
}

function fault(code: ErrorCode, attr: string | null, detail: string): ServiceError {
  return new ServiceError(code, { detail, ...(attr === null ? {} : { attr }) })
}
