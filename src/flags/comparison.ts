// How two JSON values are compared when one comes from a filter, where a form has made most things strings, and the
// other from a person, where an SDK has not.

import { numberIn } from './json-value.ts'

/** Of lists and objects, which many filters may ask for. */
const texts = new WeakMap<object, string>()

/** The text of a value: a string as it is, everything else as JSON. Cost: a list or an object is written once. */
export function textForm(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = JSON.stringify(value)
  texts.set(value, text)
  return text
}

/** Lower case in ASCII only: no letter becomes two, and none of another alphabet changes. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Returns the test for being one of `wanted` (a value, or a list of which any will do). */
export function equalsAny(wanted: unknown): (value: unknown) => boolean {
  const values: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  if (values.length > 0 && values.every(isBooleanLike)) {
    const truths = new Set(values.map(isTrueLike))
    return (value) => truths.has(isTrueLike(value))
  }
  const texts = new Set(values.map((one) => textForm(one).toLowerCase()))
  return (value) => texts.has(textForm(value).toLowerCase())
}

/** Returns the test for holding `wanted` somewhere, at the start or at the end; case does not matter. */
export function holds(
  wanted: unknown,
  where: 'includes' | 'startsWith' | 'endsWith',
): (value: unknown) => boolean {
  const part = asciiLower(textForm(wanted))
  return (value) => asciiLower(textForm(value))[where](part)
}

/** Returns the test of a number against `wanted`; what is no number on either side fails it. */
export function compares(
  wanted: unknown,
  order: (value: number, limit: number) => boolean,
): (value: unknown) => boolean {
  const limit = numberIn(wanted)
  return (value) => {
    const number = numberIn(value)
    return !Number.isNaN(number) && !Number.isNaN(limit) && order(number, limit)
  }
}

/** A boolean, or a form's word for one. */
function isBooleanLike(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && /^(?:true|false)$/i.test(value))
}

function isTrueLike(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isTrueLike)
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true')
}
