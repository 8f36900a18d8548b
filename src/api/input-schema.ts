// The part of JSON Schema that input is read by: object with properties, array with items and maxItems, string with
// minLength 1 (not blank), maxLength, pattern and format, integer and number with minimum and maximum, boolean, enum
// and const, anyOf with null (nullable) or of constants (a choice), default, and the empty schema (any JSON).

import type { TSchema } from 'typebox'

export interface InputSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, InputSchema>>
  readonly required?: readonly string[]
  readonly items?: InputSchema
  readonly maxItems?: number
  readonly anyOf?: readonly InputSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
}

const readableTypes = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null']

/** Throws when `schema` asks for something that `readInput` would not check. */
export function checkReadable(schema: TSchema, path = 'input'): void {
  check(schema as InputSchema, path) // every TypeBox schema is a JSON Schema
}

function check(schema: InputSchema, path: string): void {
  const { type, anyOf, properties, items } = schema
  if (type !== undefined && !readableTypes.includes(type)) {
    throw new Error(`assertion failed: ${path} has the type ${type}`)
  }
  const others = anyOf?.filter((one) => one.type !== 'null') ?? []
  if (others.length > 1 && others.some((one) => one.const === undefined)) {
    throw new Error(`assertion failed: ${path} has alternatives other than null and constants`)
  }
  for (const one of others) check(one, path)
  for (const [name, field] of Object.entries(properties ?? {})) check(field, `${path}.${name}`)
  if (items !== undefined) check(items, `${path}[]`)
}
