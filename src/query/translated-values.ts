// ClickHouse's functions of texts, numbers, lists and JSON.

import {
  type Ast,
  callNode,
  castNode,
  compareNode,
  listOf,
  nodeOf,
  nullNode,
  operatorNode,
  refused,
  textNode,
  textOf,
} from './ast.ts'
import {
  call,
  casts,
  constantText,
  infix,
  manyArguments,
  mapped,
  number,
  renames,
  row,
  type Translations,
} from './translation.ts'

/** Types as ClickHouse names them; texts that are no such number are NULL. */
const numberTypes: Readonly<Record<string, string>> = {
  int: 'BIGINT',
  integer: 'BIGINT',
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  int64: 'BIGINT',
  uint8: 'SMALLINT',
  uint16: 'INTEGER',
  uint32: 'BIGINT',
  uint64: 'HUGEINT',
  float: 'DOUBLE',
  float32: 'FLOAT',
  float64: 'DOUBLE',
}

const numberCasts = Object.entries(numberTypes).flatMap(([name, type]) => [
  [`to${name}`, row(1, 1, ([x]) => castNode(x!, type, true))] as const,
  [`to${name}ornull`, row(1, 1, ([x]) => castNode(x!, type, true))] as const,
  [
    `to${name}orzero`,
    row(1, 1, ([x]) => operatorNode('OPERATOR_COALESCE', [castNode(x!, type, true), number(0)])),
  ] as const,
  [
    `to${name}ordefault`,
    row(1, 2, ([x, other]) =>
      operatorNode('OPERATOR_COALESCE', [castNode(x!, type, true), other ?? number(0)]),
    ),
  ] as const,
])

/** Everything of a URL in front of its path. */
const host = '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([^:/?#]*)'
const path = '^(?:(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//[^/?#]*)?([^?#]*)'

export const valueTranslations: Translations = {
  ...Object.fromEntries(numberCasts),
  ...casts({
    tostring: ['VARCHAR', false],
    tobool: ['BOOLEAN', true],
    touuid: ['UUID', false],
    touuidornull: ['UUID', true],
  }),
  ...renames({
    lowerutf8: 'lower',
    upperutf8: 'upper',
    lengthutf8: 'length',
    char_length: 'length',
    startswith: 'starts_with',
    endswith: 'ends_with',
    match: 'regexp_matches',
    replaceall: 'replace',
    substringutf8: 'substring',
    reverseutf8: 'reverse',
    trimboth: 'trim',
    trimleft: 'ltrim',
    trimright: 'rtrim',
    typename: 'typeof',
    totypename: 'typeof',
    array: 'list_value',
    tuple: 'row',
    arrayelement: 'list_extract',
    tupleelement: 'struct_extract',
    has: 'list_contains',
    hasany: 'list_has_any',
    hasall: 'list_has_all',
    indexof: 'list_position',
    arraydistinct: 'list_distinct',
    arrayreverse: 'list_reverse',
    arraysort: 'list_sort',
    arraysum: 'list_sum',
    arrayavg: 'list_avg',
    arraymin: 'list_min',
    arraymax: 'list_max',
    arrayjoin: 'unnest',
    jsonlength: 'json_array_length',
    isvalidjson: 'json_valid',
    isnan: 'isnan',
    isinfinite: 'isinf',
    sign: 'sign',
  }),
  tuple: row(1, manyArguments, (args) => callNode('row', args)),
  array: row(0, manyArguments, (args) => callNode('list_value', args)),
  arrayuniq: row(1, 1, ([x]) => call('len', call('list_distinct', x!))),
  splitbychar: row(2, 2, ([separator, x]) => call('string_split', x!, separator!)),
  splitbystring: row(2, 2, ([separator, x]) => call('string_split', x!, separator!)),
  arraystringconcat: row(1, 2, ([x, separator]) => call('array_to_string', x!, separator ?? textNode(''))),
  like: row(2, 2, ([x, pattern]) => infix('~~', x!, pattern!)),
  notlike: row(2, 2, ([x, pattern]) => infix('!~~', x!, pattern!)),
  ilike: row(2, 2, ([x, pattern]) => infix('~~*', x!, pattern!)),
  notilike: row(2, 2, ([x, pattern]) => infix('!~~*', x!, pattern!)),
  positioncaseinsensitive: row(2, 2, ([x, part]) =>
    call('position', call('lower', x!), call('lower', part!)),
  ),
  extract: row(2, 2, ([x, pattern]) => call('regexp_extract', x!, pattern!, number(groupOf(pattern!)))),
  replaceregexpall: row(3, 3, ([x, pattern, by]) => call('regexp_replace', x!, pattern!, by!, textNode('g'))),
  replaceregexpone: row(3, 3, ([x, pattern, by]) => call('regexp_replace', x!, pattern!, by!)),
  domain: row(1, 1, ([x]) => call('regexp_extract', x!, textNode(host), number(1))),
  path: row(1, 1, ([x]) => call('regexp_extract', x!, textNode(path), number(1))),
  cutquerystring: row(1, 1, ([x]) => call('regexp_extract', x!, textNode('^[^?]*'))),
  ...mapped(
    {
      equals: 'COMPARE_EQUAL',
      notequals: 'COMPARE_NOTEQUAL',
      less: 'COMPARE_LESSTHAN',
      lessorequals: 'COMPARE_LESSTHANOREQUALTO',
      greater: 'COMPARE_GREATERTHAN',
      greaterorequals: 'COMPARE_GREATERTHANOREQUALTO',
    },
    (type) => row(2, 2, ([x, y]) => compareNode(type, x!, y!)),
  ),
  ...mapped({ plus: '+', minus: '-', multiply: '*', divide: '/', intdiv: '//', modulo: '%' }, (operator) =>
    row(2, 2, ([x, y]) => infix(operator, x!, y!)),
  ),
  negate: row(1, 1, ([x]) => infix('*', x!, number(-1))),
  isnull: row(1, 1, ([x]) => operatorNode('OPERATOR_IS_NULL', [x!])),
  isnotnull: row(1, 1, ([x]) => operatorNode('OPERATOR_IS_NOT_NULL', [x!])),
  ifnull: row(2, 2, (args) => operatorNode('OPERATOR_COALESCE', args)),
  assumenotnull: row(1, 1, ([x]) => x!),
  tonullable: row(1, 1, ([x]) => x!),
  empty: row(1, 1, ([x]) => compareNode('COMPARE_EQUAL', call('len', x!), number(0))),
  notempty: row(1, 1, ([x]) => compareNode('COMPARE_NOTEQUAL', call('len', x!), number(0))),
  not: row(1, 1, ([x]) => operatorNode('OPERATOR_NOT', [x!])),
  jsonextract: row(2, manyArguments, jsonTyped),
  jsonextractstring: row(2, manyArguments, jsonText),
  jsonextractint: row(2, manyArguments, (args) => castNode(jsonText(args), 'BIGINT', true)),
  jsonextractuint: row(2, manyArguments, (args) => castNode(jsonText(args), 'HUGEINT', true)),
  jsonextractfloat: row(2, manyArguments, (args) => castNode(jsonText(args), 'DOUBLE', true)),
  jsonextractbool: row(2, manyArguments, (args) => castNode(jsonText(args), 'BOOLEAN', true)),
  jsonextractraw: row(2, manyArguments, (args) => callNode('json_extract', jsonPath(args))),
  jsonextractarrayraw: row(2, 2, ([from, key]) =>
    call('json_extract', from!, textNode(`$."${plainKey(key)}"[*]`)),
  ),
  jsonextractkeys: row(1, manyArguments, (args) => callNode('json_keys', jsonPath(args))),
  jsontype: row(1, manyArguments, (args) => callNode('json_type', jsonPath(args))),
  jsonlength: row(1, manyArguments, (args) => callNode('json_array_length', jsonPath(args))),
  jsonhas: row(2, manyArguments, (args) => callNode('json_exists', jsonPath(args))),
}

/** What JSON holds under `keys`, as a pointer: it takes any key, where DuckDB's paths read some as their own signs. */
export function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function jsonText(args: readonly Ast[]): Ast {
  return callNode('json_extract_string', jsonPath(args))
}

/** Lists count from 1 in ClickHouse. */
function jsonPath([from, ...keys]: readonly Ast[]): Ast[] {
  if (keys.length === 0) return [from!]
  const names = keys.map((key) => {
    const value = key.class === 'CONSTANT' ? nodeOf(key.value).value : null
    if (typeof value === 'number' && value > 0) return String(value - 1)
    return constantText(key, 'The keys of a JSON function')
  })
  return [from!, textNode(pointerOf(names))]
}

/** `JSONExtract(properties, 'n', 'Int')`: the last text names the type. */
function jsonTyped(args: readonly Ast[]): Ast {
  const name = constantText(args.at(-1), 'The type of JSONExtract')
  const plain = name.toLowerCase().replace(/^nullable\((.*)\)$/, '$1')
  const text =
    args.length > 2 ? jsonText(args.slice(0, -1)) : callNode('json_extract_string', [args[0]!, textNode('')])
  if (plain === 'string') return text
  const type = plain === 'bool' ? 'BOOLEAN' : numberTypes[plain]
  if (type === undefined) throw refused(`JSONExtract has no type '${name.slice(0, 40)}'`)
  return castNode(text, type, true)
}

function plainKey(key: Ast | undefined): string {
  const text = constantText(key, 'The key of a JSON function')
  if (/["*\\]/.test(text)) throw refused('The key of JSONExtractArrayRaw holds none of " * \\')
  return text
}

/** A pattern with groups yields its first one. */
function groupOf(pattern: Ast): number {
  return /(?<!\\)\((?!\?)/.test(textOf(pattern) ?? '') ? 1 : 0
}

/** `multiIf(a, 1, b, 2, 3)` as pairs and the rest. */
export function pairsOf(args: readonly Ast[]): {
  readonly checks: (readonly [Ast, Ast])[]
  readonly otherwise: Ast
} {
  const checks: (readonly [Ast, Ast])[] = []
  for (let at = 0; at + 1 < args.length; at += 2) checks.push([args[at]!, args[at + 1]!])
  return { checks, otherwise: args.length % 2 === 1 ? args.at(-1)! : nullNode() }
}

/** Elements of `list_value`. */
export function elementsOf(node: Ast): readonly Ast[] {
  return node.function_name === 'list_value' ? listOf(node.children).map(nodeOf) : []
}
