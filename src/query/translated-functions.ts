// Functions of ClickHouse's names, which PostHog's SQL knows, in DuckDB's. Only what means the same.

import {
  type Ast,
  callNode,
  caseNode,
  castNode,
  compareNode,
  nullNode,
  operatorNode,
  refused,
  textNode,
  textOf,
} from './ast.ts'

type Translation = (args: readonly Ast[]) => Ast

interface Row {
  readonly argumentsMin: number
  readonly argumentsMax: number
  readonly translate: Translation
}

const manyArguments = 100

const translations: Readonly<Record<string, Row>> = {
  ...casts({
    tostring: ['VARCHAR', false],
    toint: ['BIGINT', true],
    tointeger: ['BIGINT', true],
    tofloat: ['DOUBLE', true],
    tobool: ['BOOLEAN', true],
    todate: ['DATE', false],
    todatetime: ['TIMESTAMP WITH TIME ZONE', false],
    touuid: ['UUID', false],
  }),
  ...truncations({
    tostartofminute: 'minute',
    tostartofhour: 'hour',
    tostartofday: 'day',
    tostartofweek: 'week',
    tomonday: 'week',
    tostartofmonth: 'month',
    tostartofquarter: 'quarter',
    tostartofyear: 'year',
  }),
  ...renames({
    toyear: 'year',
    toquarter: 'quarter',
    tomonth: 'month',
    todayofmonth: 'day',
    tohour: 'hour',
    tominute: 'minute',
    tosecond: 'second',
    todayofweek: 'isodow',
    tounixtimestamp: 'epoch',
    lowerutf8: 'lower',
    upperutf8: 'upper',
    lengthutf8: 'length',
    startswith: 'starts_with',
    endswith: 'ends_with',
    match: 'regexp_matches',
    replaceall: 'replace',
  }),
  isnull: row(1, 1, ([x]) => operatorNode('OPERATOR_IS_NULL', [x!])),
  isnotnull: row(1, 1, ([x]) => operatorNode('OPERATOR_IS_NOT_NULL', [x!])),
  empty: row(1, 1, ([x]) => compareNode('COMPARE_EQUAL', x!, textNode(''))),
  notempty: row(1, 1, ([x]) => compareNode('COMPARE_NOTEQUAL', x!, textNode(''))),
  not: row(1, 1, ([x]) => operatorNode('OPERATOR_NOT', [x!])),
  equals: row(2, 2, ([x, y]) => compareNode('COMPARE_EQUAL', x!, y!)),
  notequals: row(2, 2, ([x, y]) => compareNode('COMPARE_NOTEQUAL', x!, y!)),
  multiif: row(3, manyArguments, multiIf),
  uniq: row(1, 1, (args) => callNode('count', args, { distinct: true })),
  uniqexact: row(1, 1, (args) => callNode('count', args, { distinct: true })),
  sumif: row(2, 2, ([x, filter]) => callNode('sum', [x!], { filter })),
  avgif: row(2, 2, ([x, filter]) => callNode('avg', [x!], { filter })),
  minif: row(2, 2, ([x, filter]) => callNode('min', [x!], { filter })),
  maxif: row(2, 2, ([x, filter]) => callNode('max', [x!], { filter })),
  uniqif: row(2, 2, ([x, filter]) => callNode('count', [x!], { distinct: true, filter })),
  jsonextractstring: row(2, manyArguments, jsonText),
  jsonextractint: row(2, manyArguments, (args) => castNode(jsonText(args), 'BIGINT', true)),
  jsonextractfloat: row(2, manyArguments, (args) => castNode(jsonText(args), 'DOUBLE', true)),
  jsonextractbool: row(2, manyArguments, (args) => castNode(jsonText(args), 'BOOLEAN', true)),
  jsonextractraw: row(2, manyArguments, (args) => callNode('json_extract', jsonPath(args))),
  jsonhas: row(2, manyArguments, (args) => callNode('json_exists', jsonPath(args))),
}

/**
 * The call in DuckDB's words, or null when `name` (in lower case) is none of ClickHouse's.
 * Errors: invalid_input for a wrong number of arguments.
 */
export function translateCall(name: string, args: readonly Ast[]): Ast | null {
  const found = Object.hasOwn(translations, name) ? translations[name] : undefined
  if (found === undefined) return null
  if (args.length < found.argumentsMin || args.length > found.argumentsMax) {
    throw refused(`Function '${name}' does not take ${args.length} arguments`)
  }
  return found.translate(args)
}

/** What JSON holds under `keys`, as a pointer: it takes any key, where DuckDB's paths read some as their own signs. */
export function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function row(argumentsMin: number, argumentsMax: number, translate: Translation): Row {
  return { argumentsMin, argumentsMax, translate }
}

function casts(
  types: Readonly<Record<string, readonly [type: string, isTry: boolean]>>,
): Record<string, Row> {
  return mapped(types, ([type, isTry]) => row(1, 1, ([x]) => castNode(x!, type, isTry)))
}

function truncations(units: Readonly<Record<string, string>>): Record<string, Row> {
  return mapped(units, (unit) => row(1, 1, ([x]) => callNode('date_trunc', [textNode(unit), x!])))
}

function renames(names: Readonly<Record<string, string>>): Record<string, Row> {
  return mapped(names, (name) => row(1, 3, (args) => callNode(name, args)))
}

function mapped<T>(values: Readonly<Record<string, T>>, make: (value: T) => Row): Record<string, Row> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]))
}

function multiIf(args: readonly Ast[]): Ast {
  const checks: (readonly [Ast, Ast])[] = []
  for (let at = 0; at + 1 < args.length; at += 2) checks.push([args[at]!, args[at + 1]!])
  return caseNode(checks, args.length % 2 === 1 ? args.at(-1)! : nullNode())
}

function jsonText(args: readonly Ast[]): Ast {
  return callNode('json_extract_string', jsonPath(args))
}

function jsonPath([from, ...keys]: readonly Ast[]): Ast[] {
  const names = keys.map((key) => {
    const name = textOf(key)
    if (name === null) throw refused('The keys of a JSON function must be texts')
    return name
  })
  return [from!, textNode(pointerOf(names))]
}
