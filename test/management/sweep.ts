// Every operation as the sweeps see it: paths with ids filled in, a body that fits its schema, faults of that body.

import type { InputSchema } from '../../src/api/input-schema.ts'
import type { Operation } from '../../src/api/operation.ts'
import type { Postgres } from '../../src/postgres/pool.ts'

/** A body, and the answer it must get. */
export interface Fault {
  readonly name: string
  readonly body: unknown
  readonly code: string
  readonly attr: string
}

/** The path of `operation` in a tenant; every other id is `id`. */
export function fill(
  operation: Operation,
  organization: string,
  project: number,
  id: string | number,
): string {
  const own = operation.path
    .replace(/^\/api\/organizations\/:(?:organization_id|id)(?=\/|$)/, `/api/organizations/${organization}`)
    .replace(/^\/api\/projects\/:(?:project_id|id)(?=\/|$)/, `/api/projects/${project}`)
  return `${own.replaceAll(/:\w+/g, String(id))}/`
}

/** True when the path has an id beside that of its tenant. */
export function hasInnerId(operation: Operation): boolean {
  return /:/.test(fill(operation, '', 0, ':'))
}

/** A value that fits; `texts` has those of fields that a schema does not say everything about. */
export function sample(schema: InputSchema, texts: Readonly<Record<string, unknown>> = {}): unknown {
  return sampleOf(schema, texts, false, 0)
}

/** The same with every field; variant 1 differs from variant 0 wherever the schema leaves a choice. */
export function sampleAll(
  schema: InputSchema,
  texts: Readonly<Record<string, unknown>>,
  variant: 0 | 1,
): Record<string, unknown> {
  return sampleOf(schema, texts, true, variant) as Record<string, unknown> // of an object's schema
}

function sampleOf(
  schema: InputSchema,
  texts: Readonly<Record<string, unknown>>,
  isWhole: boolean,
  variant: 0 | 1,
): unknown {
  const choices = schema.anyOf?.filter((one) => one.type !== 'null')
  if (choices !== undefined) {
    return sampleOf(choices[variant] ?? choices[0] ?? {}, texts, isWhole, variant)
  }
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[variant] ?? schema.enum[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => isWhole || schema.required?.includes(name))
          .map(([name, field]) => [name, texts[name] ?? sampleOf(field, texts, isWhole, variant)]),
      )
    case 'array':
      return isWhole ? [sampleOf(schema.items ?? {}, texts, isWhole, variant)] : []
    case 'integer':
    case 'number':
      return (schema.minimum ?? 1) + variant
    case 'boolean':
      return variant === 0
    case 'string':
      return sampleText(schema.format, variant)
    default:
      return null
  }
}

function sampleText(format: string | undefined, variant: 0 | 1): string {
  switch (format) {
    case 'uuid':
      return `00000000-0000-4000-8000-0000000000a${variant}`
    case 'email':
      return `sample${variant}@spate.example`
    case 'uri':
      return `https://192.0.2.7/${variant}`
    case 'date-time':
      return `203${variant}-01-01T00:00:00Z`
    default:
      return `sample${variant}`
  }
}

/** Names of the fields of a body, nested ones too, as `attr` has them; an element of a list is the first. */
export function fieldsOf(schema: InputSchema, attr = ''): string[] {
  const below = [...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])]
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = attr === '' ? name : `${attr}__${name}`
    return [path, ...fieldsOf(field, path)]
  })
  const isItem = (one: InputSchema): boolean => one === schema.items
  return [...named, ...below.flatMap((one) => fieldsOf(one, isItem(one) ? prefixed(attr, '0') : attr))]
}

/** What is wrong with each field of a body in turn, nested ones too, all others as they should be. */
export function faultsOf(
  schema: InputSchema,
  texts: Readonly<Record<string, unknown>>,
  isPartial: boolean,
): Fault[] {
  if (schema.items !== undefined) return itemFaults(schema.items, '', texts)
  const base = isPartial ? {} : (sample(schema, texts) as object) // of an object's schema
  return objectFaults(schema, base, '', texts)
}

function objectFaults(
  schema: InputSchema,
  base: object,
  attr: string,
  texts: Readonly<Record<string, unknown>>,
): Fault[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefixed(attr, name)
    const isRequired = schema.required?.includes(name) === true && field.default === undefined
    const { [name]: _, ...rest } = base as Record<string, unknown>
    const missing = isRequired ? [{ name: `${path} missing`, body: rest, code: 'required', attr: path }] : []
    const wrong = wrongValues(field).map(([kind, value, code]) => {
      return { name: `${path} ${kind}`, body: { ...base, [name]: value }, code, attr: path }
    })
    const below = belowFaults(field, path, texts).map((fault) => {
      return { ...fault, body: { ...base, [name]: fault.body } }
    })
    return [...missing, ...wrong, ...below]
  })
}

/** What is wrong within a field: members of an object, elements of a list. The body of each is the field's value. */
function belowFaults(field: InputSchema, attr: string, texts: Readonly<Record<string, unknown>>): Fault[] {
  const others = (field.anyOf ?? [field]).filter((one) => one.type !== 'null')
  const [only] = others
  if (only === undefined || others.length > 1) return []
  if (only.properties !== undefined) {
    const base = { ...(sample(only, texts) as object), ...Object(texts[attr]) }
    return objectFaults(only, base, attr, texts)
  }
  return only.items === undefined ? [] : itemFaults(only.items, attr, texts)
}

function itemFaults(items: InputSchema, attr: string, texts: Readonly<Record<string, unknown>>): Fault[] {
  const path = prefixed(attr, '0')
  const wrong = wrongValues(items).map(([kind, value, code]): Fault => {
    return { name: `${path} ${kind}`, body: [value], code, attr: path }
  })
  const below = belowFaults(items, path, texts).map((fault) => ({ ...fault, body: [fault.body] }))
  return [...wrong, ...below]
}

function prefixed(attr: string, name: string): string {
  return attr === '' ? name : `${attr}__${name}`
}

type WrongValue = readonly [name: string, value: unknown, code: string]

function wrongValues(field: InputSchema): WrongValue[] {
  const alternatives = field.anyOf ?? []
  const others = alternatives.filter((one) => one.type !== 'null')
  const isNullable = others.length < alternatives.length
  const values: WrongValue[] = isNullable || isAny(field) ? [] : [['null', null, 'null']]
  if (others.length === 1) return [...values, ...wrongValues(others[0]!).filter(([name]) => name !== 'null')]
  if (field.enum !== undefined || field.const !== undefined || others.some((one) => one.const !== undefined))
    return [...values, ['choice', 'no such choice', 'invalid_choice'], ['list', [], 'invalid_choice']]
  if (others.length > 1) return [...values, ['scalar', 'x', 'invalid_input']]
  switch (field.type) {
    case 'string':
      return [...values, ...wrongTexts(field)]
    case 'integer':
    case 'number':
      values.push(
        ['text', 'x', 'invalid_input'],
        ['object', {}, 'invalid_input'],
        ['empty', '', 'invalid_input'],
      )
      values.push(['boolean', true, 'invalid_input'])
      if (field.maximum !== undefined) values.push(['large', field.maximum + 1, 'max_value'])
      if (field.minimum !== undefined) values.push(['small', field.minimum - 1, 'min_value'])
      return values
    case 'boolean':
      return [
        ...values,
        ['text', 'maybe', 'invalid_input'],
        ['object', {}, 'invalid_input'],
        ['empty', '', 'invalid_input'],
      ]
    case 'array':
      values.push(['text', 'x', 'not_a_list'], ['object', {}, 'not_a_list'])
      if (field.maxItems !== undefined && field.maxItems <= 20_000)
        values.push(['long', Array<null>(field.maxItems + 1).fill(null), 'max_length'])
      return values
    case 'object':
      return [...values, ['text', 'x', 'invalid_input'], ['list', [], 'invalid_input']]
    default:
      return values
  }
}

/** Formats whose texts are never blank; an address may be left so. */
const filledFormats = ['uuid', 'date-time']

function wrongTexts({ format, minLength, maxLength }: InputSchema): WrongValue[] {
  const values: WrongValue[] = [['list', [], 'invalid_input']]
  values.push(['boolean', true, 'invalid_input'], ['object', {}, 'invalid_input'])
  values.push(['NUL', 'a\0', 'invalid_input'], ['half a character', '\ud800', 'invalid_input'])
  if (maxLength !== undefined) values.push(['long', 'a'.repeat(maxLength + 1), 'max_length'])
  if (minLength !== undefined) values.push(['blank', ' ', 'blank'], ['empty', '', 'blank'])
  if (format !== undefined) values.push(['format', 'x', 'invalid_input'], ['number', 7, 'invalid_input'])
  if (filledFormats.includes(format ?? '')) values.push(['empty', '', 'invalid_input'])
  return values
}

function isAny(field: InputSchema): boolean {
  return field.type === undefined && field.anyOf === undefined && field.enum === undefined
}

/**
 * All rows of all tables, as a hash a table; what every request notes of itself is left out, and that one was denied.
 */
export async function snapshot(postgres: Postgres): Promise<Record<string, string>> {
  const { rows } = await postgres.query<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
       and relnamespace = 'public'::regnamespace order by 1`,
  )
  const hashes: Record<string, string> = {}
  for (const { name } of rows) {
    const { rows: found } = await postgres.query<{ hash: string }>(
      `select coalesce(md5(string_agg(row, '' order by row)), '') as hash
       from (select (to_jsonb(one) - 'last_used_at')::text as row from ${name} one) rows
       where rows.row::jsonb ->> 'activity' is distinct from 'denied'`,
    )
    hashes[name] = found[0]?.hash ?? ''
  }
  return hashes
}
