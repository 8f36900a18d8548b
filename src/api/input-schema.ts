// The part of JSON Schema that input is read by: object with properties, array with items and maxItems, string with
// minLength 1 (not blank), maxLength, pattern and format, integer and number with minimum and maximum, boolean, enum
// and const, anyOf with null (nullable), of constants (a choice) or of an object and an array (either), default, and
// the empty schema (any JSON).

import type { TObject, TOptional, TSchema } from 'typebox'
import { Type } from './schema.ts'

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
  /** Read as it is, whatever the type: who uses it makes do with anything. */
  readonly 'x-lenient'?: boolean
}

/** JSON of any shape but a scalar, or null: what the API calls "object or null". */
export const jsonField = Type.Unsafe<Readonly<Record<string, unknown>> | readonly unknown[] | null>({
  anyOf: [{ type: 'object', additionalProperties: true }, { type: 'array', items: {} }, { type: 'null' }],
})

/** `schema` for a PATCH: no field is required, and what is left out gets no default. */
export function partialOf<T extends Record<string, TSchema>>(
  schema: TObject<T>,
): TObject<{ [K in keyof T]: TOptional<T[K]> }> {
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    const { default: _, ...rest } = field as TSchema & { default?: unknown } // where there is one
    return [name, Type.Optional(rest)]
  })
  // The same names with the same schemas, each made optional.
  return Type.Object(Object.fromEntries(fields)) as TObject<{ [K in keyof T]: TOptional<T[K]> }>
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
  if (others.length > 1 && !isContainers(others) && others.some((one) => one.const === undefined)) {
    throw new Error(`assertion failed: ${path} has alternatives other than null and constants`)
  }
  for (const one of others) check(one, path)
  for (const [name, field] of Object.entries(properties ?? {})) check(field, `${path}.${name}`)
  if (items !== undefined) check(items, `${path}[]`)
}

/** True for an object and an array, which a value can be told apart by. */
export function isContainers(alternatives: readonly InputSchema[]): boolean {
  return alternatives.length === 2 && alternatives[0]?.type === 'object' && alternatives[1]?.type === 'array'
}
