// Builds the schemas of requests and answers: JSON Schemas with the types of TypeBox, and what TypeBox would build.
//
// TypeBox itself is not loaded: of its 680 files, 270 ms of a processor at every start, the builders are all that a
// server would need, and those of them that are used fit in here.

import type * as TypeBox from 'typebox'
import type { TEnumValue, TLiteralValue, TProperties, TSchema, TSchemaOptions } from 'typebox'

/** Hidden in a schema: it says something of the object that the field is in. */
const optional = '~optional'

const builders = {
  Array: (items: TSchema, options?: TSchemaOptions): TSchema => ({ type: 'array', items, ...options }),
  Boolean: (options?: TSchemaOptions): TSchema => ({ type: 'boolean', ...options }),
  Enum: (values: readonly TEnumValue[], options?: TSchemaOptions): TSchema => ({ enum: values, ...options }),
  Integer: (options?: TSchemaOptions): TSchema => ({ type: 'integer', ...options }),
  Literal: (value: TLiteralValue, options?: TSchemaOptions): TSchema => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: (options?: TSchemaOptions): TSchema => ({ type: 'null', ...options }),
  Number: (options?: TSchemaOptions): TSchema => ({ type: 'number', ...options }),
  Object: (properties: TProperties, options?: TSchemaOptions): TSchema => {
    const names = Object.keys(properties).filter((name) => !(optional in properties[name]!)) // one of its own
    const required = names.length > 0 ? { required: names } : {}
    return { type: 'object', ...required, properties, ...options }
  },
  Optional: (schema: TSchema): TSchema => Object.defineProperty({ ...schema }, optional, { value: true }),
  Required: (object: TSchema): TSchema => {
    const { properties } = object as TypeBox.TObject // what has fields that are required or not
    const fields = Object.entries(properties).map(([name, field]) => [name, { ...field }])
    return builders.Object(Object.fromEntries(fields))
  },
  String: (options?: TSchemaOptions): TSchema => ({ type: 'string', ...options }),
  Union: (anyOf: TSchema[], options?: TSchemaOptions): TSchema => ({ anyOf, ...options }),
  Unknown: (options?: TSchemaOptions): TSchema => ({ ...options }),
  Unsafe: (schema: TSchema): TSchema => ({ ...schema }),
}

/** The builders of TypeBox under their names. */
// Each returns what that of TypeBox does: see the test.
export const Type = builders as Pick<typeof TypeBox, keyof typeof builders>
