// Reads what a caller sent by a TypeBox schema: known fields only, scalars coerced as Django REST framework coerces
// them, defaults filled in, and the first fault as the error that framework words for it. Clients match on these texts,
// which is why TypeBox's own checker, strict and with wording of its own, is not used here.

import type { TSchema } from 'typebox'
import { ServiceError } from '../errors.ts'
import { type InputSchema, isContainers } from './input-schema.ts'
import { checkStorable, readBoolean, readInteger, readNumber, readText } from './scalars.ts'

/**
 * Reads `value` by `schema`.
 * Errors: the validation codes of errors.ts, for the first faulty field in the order of the schema; `attr` is its name,
 * nested names joined by `__`.
 */
export function readInput(schema: TSchema, value: unknown): unknown {
  return read(schema as InputSchema, value, null) // every TypeBox schema is a JSON Schema; checkReadable has read it
}

function read(schema: InputSchema, value: unknown, attr: string | null): unknown {
  if (schema.anyOf !== undefined) return readAlternatives(schema.anyOf, value, attr)
  if (schema.enum !== undefined) return readChoice(schema.enum, value, attr)
  if (schema.const !== undefined) return readChoice([schema.const], value, attr)
  if (schema.type === undefined || schema['x-lenient'] === true) return readAny(value, attr)
  if (value === null) throw fault('null', attr)
  switch (schema.type) {
    case 'object':
      return readObject(schema, value, attr)
    case 'array':
      return readArray(schema, value, attr)
    case 'string':
      return readText(schema, value, attr)
    case 'integer':
      return readInteger(schema, value, attr)
    case 'number':
      return readNumber(schema, value, attr)
    case 'boolean':
      return readBoolean(value, attr)
    default:
      throw new Error(`assertion failed: unreadable type ${schema.type}`)
  }
}

function readAlternatives(
  alternatives: readonly InputSchema[],
  value: unknown,
  attr: string | null,
): unknown {
  const others = alternatives.filter((one) => one.type !== 'null')
  if (value === null && others.length < alternatives.length) return null
  const only = others[0]
  if (only !== undefined && isContainers(others)) {
    return read(Array.isArray(value) ? others[1]! : only, value, attr) // isContainers has counted two
  }
  if (others.length === 1 && only !== undefined) return read(only, value, attr)
  return readChoice(
    others.map((one) => one.const),
    value,
    attr,
  )
}

function readChoice(choices: readonly unknown[], value: unknown, attr: string | null): unknown {
  if (value === null) throw fault('null', attr)
  const sent = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const index = choices.findIndex((choice) => String(choice) === sent)
  if (index < 0) throw fault('invalid_choice', attr, `"${sent.slice(0, 100)}" is not a valid choice.`)
  return choices[index]
}

function readObject(schema: InputSchema, value: unknown, attr: string | null): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const detail = `Invalid data. Expected a dictionary, but got ${kindOf(value)}.`
    throw fault('invalid_input', attr, detail)
  }
  if (schema.properties === undefined) return { ...readAny(value, attr) }
  const fields: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    const path = attr === null ? name : `${attr}__${name}`
    // Own keys only: a body's "__proto__" is a key like any other and reaches nothing.
    if (Object.hasOwn(value, name)) fields[name] = read(field, Reflect.get(value, name), path)
    else if (field.default !== undefined) fields[name] = structuredClone(field.default)
    else if (schema.required?.includes(name)) throw fault('required', path)
  }
  return fields
}

/**
 * JSON of the caller's own shape: every string in it, names included, must be text that Postgres stores. `attr` names
 * the field that holds it; what is no field's is named by its place.
 */
function readAny<T>(value: T, attr: string | null): T {
  const rest: [one: unknown, place: string | null][] = [[value, attr]]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [one, place] = next
    if (typeof one === 'string') checkStorable(one, place)
    else if (typeof one === 'object' && one !== null) {
      for (const [name, member] of Object.entries(one)) {
        checkStorable(name, place)
        rest.push([member, attr ?? (place === null ? name : `${place}__${name}`)])
      }
    }
  }
  return value
}

function readArray(schema: InputSchema, value: unknown, attr: string | null): unknown[] {
  if (!Array.isArray(value)) {
    throw fault('not_a_list', attr, `Expected a list of items but got type "${kindOf(value)}".`)
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    const detail = `Ensure this field has no more than ${schema.maxItems} elements.`
    throw fault('max_length', attr, detail)
  }
  const { items = {} } = schema
  return value.map((item, index) => read(items, item, attr === null ? String(index) : `${attr}__${index}`))
}

function fault(
  code: 'null' | 'required' | 'invalid_choice' | 'invalid_input' | 'not_a_list' | 'max_length',
  attr: string | null,
  detail?: string,
): ServiceError {
  return new ServiceError(code, {
    ...(detail === undefined ? {} : { detail }),
    ...(attr === null ? {} : { attr }),
  })
}

/** The name of a JSON value's type in the framework's language. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  switch (typeof value) {
    case 'string':
      return 'str'
    case 'boolean':
      return 'bool'
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float'
    default:
      return 'dict'
  }
}
