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
  if (schema.anyOf !== undefined) return sample(schema.anyOf[0] ?? {}, texts)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => schema.required?.includes(name))
          .map(([name, field]) => [name, texts[name] ?? sample(field, texts)]),
      )
    case 'array':
      return []
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return sampleText(schema.format)
    default:
      return null
  }
}

function sampleText(format: string | undefined): string {
  switch (format) {
    case 'uuid':
      return '00000000-0000-4000-8000-0000000000aa'
    case 'email':
      return 'sample@spate.example'
    case 'uri':
      return 'https://192.0.2.7/'
    case 'date-time':
      return '2030-01-01T00:00:00Z'
    default:
      return 'sample'
  }
}

/** What is wrong with each field of a body in turn, all others as they should be. */
export function faultsOf(
  schema: InputSchema,
  texts: Readonly<Record<string, unknown>>,
  isPartial: boolean,
): Fault[] {
  const base = isPartial ? {} : (sample(schema, texts) as object) // of an object's schema
  return Object.entries(schema.properties ?? {}).flatMap(([attr, field]) => {
    const isRequired = schema.required?.includes(attr) === true && field.default === undefined
    const { [attr]: _, ...rest } = base as Record<string, unknown>
    const missing = isRequired ? [{ name: 'missing', body: rest, code: 'required', attr }] : []
    const wrong = wrongValues(field).map(([name, value, code]) => {
      return { name: `${attr} ${name}`, body: { ...base, [attr]: value }, code, attr }
    })
    return [...missing, ...wrong]
  })
}

function wrongValues(field: InputSchema): [name: string, value: unknown, code: string][] {
  const alternatives = field.anyOf ?? []
  const others = alternatives.filter((one) => one.type !== 'null')
  const isNullable = others.length < alternatives.length
  const values: [string, unknown, string][] = isNullable || isAny(field) ? [] : [['null', null, 'null']]
  if (others.length === 1) return [...values, ...wrongValues(others[0]!).filter(([name]) => name !== 'null')]
  if (field.enum !== undefined || field.const !== undefined || others.some((one) => one.const !== undefined))
    return [...values, ['choice', 'no such choice', 'invalid_choice']]
  if (others.length > 1) return [...values, ['scalar', 'x', 'invalid_input']]
  switch (field.type) {
    case 'string': {
      values.push(['list', [], 'invalid_input'], ['boolean', true, 'invalid_input'])
      values.push(['NUL', 'a\0', 'invalid_input'], ['half a character', '\ud800', 'invalid_input'])
      if (field.maxLength !== undefined) values.push(['long', 'a'.repeat(field.maxLength + 1), 'max_length'])
      if (field.minLength !== undefined) values.push(['blank', ' ', 'blank'])
      return values
    }
    case 'integer':
    case 'number':
      values.push(['text', 'x', 'invalid_input'], ['object', {}, 'invalid_input'])
      if (field.maximum !== undefined) values.push(['large', field.maximum + 1, 'max_value'])
      if (field.minimum !== undefined) values.push(['small', field.minimum - 1, 'min_value'])
      return values
    case 'boolean':
      return [...values, ['text', 'maybe', 'invalid_input'], ['object', {}, 'invalid_input']]
    case 'array':
      return [...values, ['text', 'x', 'not_a_list'], ['object', {}, 'not_a_list']]
    case 'object':
      return [...values, ['text', 'x', 'invalid_input'], ['list', [], 'invalid_input']]
    default:
      return values
  }
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
