// One spelling for every JSON value that a person or group keeps, so that equal values are equal texts, whether they
// come from an event or back from a jsonb column: strings without needless escapes, numbers without exponents, objects
// with sorted keys and no spaces.
//
// Numbers keep their digits. One that prints longer than 32 characters becomes a string of what was sent: jsonb would
// print 1e100000 with a hundred thousand digits, and no reader holds it.

import { quoteText, readElements, readMembers, unquote } from './json-members.ts'

const numberCharsMax = 32
/** Exponents that may give a number of 32 characters are far below; this bounds what is printed to find out. */
const exponentMax = 100

const plainInteger = /^(?:0|-?[1-9]\d{0,14})$/
const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** The one spelling of the JSON value `text`. */
export function canonicalJson(text: string): string {
  switch (text[0]) {
    case '"':
      return text.includes('\\') ? JSON.stringify(unquote(text)) : text
    case '{':
      return canonicalObject(text)
    case '[':
      return `[${readElements(text).map(canonicalJson).join(',')}]`
    case 't':
    case 'f':
    case 'n':
      return text
    default:
      return plainInteger.test(text) ? text : canonicalNumber(text)
  }
}

function canonicalObject(text: string): string {
  const sorted = [...readMembers(text)].sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([key, value]) => `${quoteText(key)}:${canonicalJson(value)}`).join(',')}}`
}

/** Prints a number the way Postgres prints a numeric: all digits, trailing zeros of a fraction included. */
function canonicalNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = numberParts.exec(text) ?? []
  const exponent = Number(exponentText)
  if (Math.abs(exponent) > exponentMax) return `"${text}"`
  const digits = whole + fraction
  const point = whole.length + exponent
  const wide = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const wholeDigits = wide.slice(0, Math.max(1, point)).replace(/^0+(?=\d)/, '')
  const fractionDigits = wide.slice(Math.max(1, point))
  const printed = fractionDigits === '' ? wholeDigits : `${wholeDigits}.${fractionDigits}`
  const signed = /[1-9]/.test(printed) ? sign + printed : printed
  return signed.length > numberCharsMax ? `"${text}"` : signed
}
