// Filters on event properties as SQL over the `properties` column.

import { ServiceError } from '../errors.ts'
import { unreachable } from '../lib/assert.ts'

export const propertyOperators = [
  'exact',
  'is_not',
  'icontains',
  'not_icontains',
  'is_set',
  'is_not_set',
  'gt',
  'lt',
  'regex',
] as const
export type PropertyOperator = (typeof propertyOperators)[number]

export type PropertyValue = string | number | boolean | null

export interface PropertyFilter {
  readonly key: string
  /** A list means "one of these", for `exact` and `is_not`. Ignored by `is_set` and `is_not_set`. */
  readonly value: PropertyValue | readonly PropertyValue[]
  readonly operator: PropertyOperator
}

/** Values of a statement, in the order of their parameters; every value from outside goes through here. */
export class Parameters {
  readonly values: (string | number | null)[] = []

  /** Adds a value and returns its placeholder, cast to `type`. */
  add(value: string | number | null, type: string): string {
    // The client binds every whole number as one of 64 bits, and fails on a greater one.
    this.values.push(type === 'double' ? String(value) : value)
    return `$${this.values.length}::${type}`
  }
}

/**
 * The condition of one filter, true or false for every row. A property counts as set when it is there and not null;
 * values are compared as text, numbers also as numbers.
 * Errors: invalid_input for a value that the operator cannot take.
 */
export function propertyCondition(filter: PropertyFilter, parameters: Parameters): string {
  // A JSON pointer holds any key; DuckDB would read `$browser` alone as a path of its own language.
  const pointer = `/${filter.key.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const text = `json_extract_string(properties, ${parameters.add(pointer, 'varchar')})`
  switch (filter.operator) {
    case 'is_set':
      return `${text} is not null`
    case 'is_not_set':
      return `${text} is null`
    case 'exact':
      return `coalesce(${equals(text, filter, parameters)}, false)`
    case 'is_not':
      return `not coalesce(${equals(text, filter, parameters)}, false)`
    case 'icontains':
      return `coalesce(${contains(text, filter, parameters)}, false)`
    case 'not_icontains':
      return `not coalesce(${contains(text, filter, parameters)}, false)`
    case 'gt':
      return `coalesce(try_cast(${text} as double) > ${parameters.add(numberOf(filter), 'double')}, false)`
    case 'lt':
      return `coalesce(try_cast(${text} as double) < ${parameters.add(numberOf(filter), 'double')}, false)`
    case 'regex':
      return `coalesce(regexp_matches(${text}, ${parameters.add(textOf(filter), 'varchar')}), false)`
    default:
      return unreachable(filter.operator)
  }
}

function equals(text: string, filter: PropertyFilter, parameters: Parameters): string {
  const values: readonly PropertyValue[] = Array.isArray(filter.value) ? filter.value : [filter.value]
  const conditions = values.map((value) => {
    if (value === null) return `${text} is null`
    const isEqual = `${text} = ${parameters.add(String(value), 'varchar')}`
    if (typeof value !== 'number') return isEqual
    return `(${isEqual} or try_cast(${text} as double) = ${parameters.add(value, 'double')})`
  })
  // An empty list matches nothing; the parameter of the key must still occur.
  return conditions.length === 0 ? `(${text} is null and false)` : `(${conditions.join(' or ')})`
}

function contains(text: string, filter: PropertyFilter, parameters: Parameters): string {
  return `contains(lower(${text}), lower(${parameters.add(textOf(filter), 'varchar')}))`
}

function textOf({ key, operator, value }: PropertyFilter): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  throw invalid(key, operator, 'a string, number or boolean')
}

function numberOf({ key, operator, value }: PropertyFilter): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && !Number.isNaN(number)) return number
  throw invalid(key, operator, 'a number')
}

function invalid(key: string, operator: PropertyOperator, expected: string): ServiceError {
  const detail = `The filter on ${JSON.stringify(key)} with operator ${operator} wants ${expected} as its value.`
  return new ServiceError('invalid_input', { detail, attr: 'properties' })
}
