// Filters on the properties of persons as SQL over the table person.

import { ServiceError } from '../errors.ts'
import type { PropertyFilter, PropertyOperator, PropertyValue } from '../events/property-filter.ts'
import { unreachable } from '../lib/assert.ts'
import { containsText, type SqlValues } from './sql-values.ts'

/** Text that is read as a number; the lengths keep within what Postgres repeats and a cast takes. */
const numberPattern = '^[+-]?[0-9]{1,200}([.][0-9]{1,200})?$'

/**
 * The condition of one filter, true or false for every row. A property counts as set when it is there and not null;
 * values are compared as text, numbers also as numbers.
 * Errors: invalid_input for a value that the operator cannot take, and for regex, which could keep the database busy.
 */
export function personCondition(filter: PropertyFilter, values: SqlValues): string {
  const property = `(properties -> ${values.add(storable(filter.key), 'text')})`
  // As text; no row for JSON's null.
  const text = `(${property} #>> '{}')`
  switch (filter.operator) {
    case 'is_set':
      return `${text} is not null`
    case 'is_not_set':
      return `${text} is null`
    case 'exact':
      return `coalesce(${equals(text, filter, values)}, false)`
    case 'is_not':
      return `not coalesce(${equals(text, filter, values)}, false)`
    case 'icontains':
      return `coalesce(${contains(text, filter, values)}, false)`
    case 'not_icontains':
      return `not coalesce(${contains(text, filter, values)}, false)`
    case 'gt':
      return `coalesce(${numberIn(text)} > ${values.add(numberOf(filter), 'numeric')}, false)`
    case 'lt':
      return `coalesce(${numberIn(text)} < ${values.add(numberOf(filter), 'numeric')}, false)`
    case 'regex':
      throw invalid('Persons are not filtered by the operator regex.')
    default:
      return unreachable(filter.operator)
  }
}

function equals(text: string, filter: PropertyFilter, values: SqlValues): string {
  const wanted: readonly PropertyValue[] = Array.isArray(filter.value) ? filter.value : [filter.value]
  const conditions = wanted.map((value) => {
    if (value === null) return `${text} is null`
    const isEqual = `${text} = ${values.add(storable(String(value)), 'text')}`
    if (typeof value !== 'number') return isEqual
    return `(${isEqual} or ${numberIn(text)} = ${values.add(String(value), 'numeric')})`
  })
  // An empty list matches nothing; the parameter of the key must still occur.
  return conditions.length === 0 ? `(${text} is null and false)` : `(${conditions.join(' or ')})`
}

function contains(text: string, filter: PropertyFilter, values: SqlValues): string {
  const { value } = filter
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return `(${containsText(text, storable(String(value)), values)})`
  throw wrongValue(filter.key, filter.operator, 'a string, number or boolean')
}

/** Null for text that is no number. */
function numberIn(text: string): string {
  return `(case when ${text} ~ '${numberPattern}' then ${text}::numeric end)`
}

function numberOf({ key, operator, value }: PropertyFilter): string {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && !Number.isNaN(number)) return String(number)
  throw wrongValue(key, operator, 'a number')
}

/** Keys and values are stored with a mark in place of NUL. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd')
}

function wrongValue(key: string, operator: PropertyOperator, expected: string): ServiceError {
  return invalid(
    `The filter on ${JSON.stringify(key)} with operator ${operator} wants ${expected} as its value.`,
  )
}

function invalid(detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail, attr: 'properties' })
}
