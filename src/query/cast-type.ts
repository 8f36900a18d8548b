// Types that a query may cast to. DuckDB's tree names a type in one of two ways, by how new the store's format is: as
// the type itself, or as a name that is yet to be looked up, in a catalog where it could mean anything. Only names of
// its own plain types are taken, and written as the types themselves.

import { type Ast, listOf, nodeOf } from './ast.ts'
import { castTypes } from './expression-kinds.ts'
import { notAllowed, type Rule } from './rules.ts'

const decimalDigitsMax = 38
const decimalDigits = 18
const decimalScale = 3

export const castType: Rule = (value) => {
  const { id, type_info: info } = nodeOf(value)
  if (id === 'UNBOUND') return namedType(nodeOf(nodeOf(info).expr))
  if (id !== 'DECIMAL') return plainType(String(id))
  const { width, scale } = info === null ? { width: decimalDigits, scale: decimalScale } : nodeOf(info)
  return decimalType(width, scale)
}

function namedType({ class: kind, catalog, schema, type_name: name, children }: Ast): Ast {
  if (kind !== 'TYPE' || catalog !== '' || schema !== '') throw notAllowed('this type')
  const upper = String(name).toUpperCase()
  const digits = listOf(children).map((child) => nodeOf(nodeOf(child).value).value)
  if (upper === 'DECIMAL')
    return decimalType(digits[0] ?? decimalDigits, digits[1] ?? decimalDefaultScale(digits))
  // The length of a VARCHAR means nothing to DuckDB.
  if (digits.length > 0 && upper !== 'VARCHAR') throw notAllowed('this type')
  return plainType(upper)
}

/** DECIMAL is (18, 3), DECIMAL(5) is (5, 0). */
function decimalDefaultScale(digits: readonly unknown[]): number {
  return digits.length === 0 ? decimalScale : 0
}

/** Names that ClickHouse and PostHog have for them. */
const otherNames: Readonly<Record<string, string>> = {
  STRING: 'VARCHAR',
  INT16: 'SMALLINT',
  INT32: 'INTEGER',
  INT64: 'BIGINT',
  FLOAT32: 'FLOAT',
  FLOAT64: 'DOUBLE',
  DATETIME: 'TIMESTAMP WITH TIME ZONE',
  TIMESTAMPTZ: 'TIMESTAMP WITH TIME ZONE',
}

function plainType(given: string): Ast {
  const name = Object.hasOwn(otherNames, given) ? (otherNames[given] ?? given) : given
  if (castTypes.includes(name)) return { id: name, type_info: null }
  throw notAllowed(`the type ${name.slice(0, 60)}`)
}

function decimalType(width: unknown, scale: unknown): Ast {
  const isDigits = (digits: unknown): digits is number =>
    typeof digits === 'number' && Number.isInteger(digits) && digits >= 0 && digits <= decimalDigitsMax
  if (!isDigits(width) || !isDigits(scale) || width === 0 || scale > width) throw notAllowed('this type')
  const info = { type: 'DECIMAL_TYPE_INFO', alias: '', extension_info: null, width, scale }
  return { id: 'DECIMAL', type_info: info }
}
