// Expressions: which are allowed, and what becomes of names and functions that PostHog's SQL writes its own way.

import { allowedNames, isAllowed } from './allowed-functions.ts'
import { type Ast, callNode, castNode, listOf, nodeOf, refused, textNode, textOf } from './ast.ts'
import { castType } from './cast-type.ts'
import { comparisons, constantTypes, frames, operatorTypes, windows } from './expression-kinds.ts'
import { checkGrowth, checkRowGrowth } from './growth.ts'
import { nearNames } from './near-names.ts'
import {
  applyFields,
  deeper,
  type Fields,
  flag,
  listRule,
  name,
  names,
  notAllowed,
  objectRule,
  oneOf,
  orNull,
  place,
  type Rule,
  type Scope,
  unused,
} from './rules.ts'
import { fieldColumn, type Joined } from './tables.ts'
import { translateCall, translatedNames } from './translated-functions.ts'
import { pointerOf } from './translated-values.ts'
import { joinedIn } from './uses.ts'

export const expression: Rule = (value, scope) => rewrite(nodeOf(value), deeper(scope))
export const expressions = listRule(expression)
const maybe = orNull(expression)

const order = objectRule(
  {
    type: oneOf('ORDER_DEFAULT', 'ASCENDING', 'DESCENDING'),
    null_order: oneOf('ORDER_DEFAULT', 'NULLS FIRST', 'NULLS LAST'),
    expression,
  },
  'an order',
)
export const orders = listRule(order)

const subselect = objectRule(
  { node: (value, scope) => scope.select(nodeOf(value), deeper(scope)), named_param_map: unused },
  'a subquery',
)

const common: Fields = { class: name, alias: name, query_location: place }

/** The fields of every class of expression that has no code of its own below. */
const classes: Readonly<Record<string, Fields>> = {
  COMPARISON: { ...common, type: oneOf(...comparisons), left: expression, right: expression },
  CONJUNCTION: { ...common, type: oneOf('CONJUNCTION_AND', 'CONJUNCTION_OR'), children: expressions },
  BETWEEN: {
    ...common,
    type: oneOf('COMPARE_BETWEEN', 'COMPARE_NOT_BETWEEN'),
    input: expression,
    lower: expression,
    upper: expression,
  },
  CASE: {
    ...common,
    type: oneOf('CASE_EXPR'),
    case_checks: listRule(objectRule({ when_expr: expression, then_expr: expression }, 'a case')),
    else_expr: expression,
  },
  CAST: {
    ...common,
    type: oneOf('OPERATOR_CAST'),
    child: expression,
    cast_type: castType,
    try_cast: flag,
  },
  SUBQUERY: {
    ...common,
    type: oneOf('SUBQUERY'),
    subquery_type: oneOf('SCALAR', 'EXISTS', 'NOT_EXISTS', 'ANY'),
    subquery: subselect,
    child: maybe,
    comparison_type: oneOf('INVALID', ...comparisons),
  },
  WINDOW: {
    ...common,
    type: oneOf(...windows),
    function_name: (value) => allowedName(String(value)),
    schema: oneOf('', 'main'),
    catalog: unused,
    children: expressions,
    partitions: expressions,
    orders,
    start: oneOf(...frames),
    end: oneOf(...frames),
    start_expr: maybe,
    end_expr: maybe,
    offset_expr: maybe,
    default_expr: maybe,
    ignore_nulls: flag,
    filter_expr: maybe,
    exclude_clause: oneOf('NO_OTHER', 'CURRENT_ROW', 'GROUP', 'TIES'),
    distinct: flag,
    arg_orders: orders,
  },
}

const star: Fields = {
  ...common,
  type: oneOf('STAR'),
  relation_name: name,
  exclude_list: names,
  replace_list: listRule(objectRule({ key: name, value: expression }, 'a replacement')),
  columns: flag,
  expr: unused,
  qualified_exclude_list: unused,
  rename_list: unused,
}

const operators: Fields = {
  ...common,
  type: oneOf(...operatorTypes),
  children: expressions,
}

const calls: Fields = {
  ...common,
  type: oneOf('FUNCTION'),
  function_name: name,
  // The parser itself writes "main" where it stands for an operator.
  schema: oneOf('', 'main'),
  catalog: unused,
  children: expressions,
  filter: maybe,
  order_bys: objectRule({ type: oneOf('ORDER_MODIFIER'), orders }, 'an order'),
  distinct: flag,
  is_operator: flag,
  export_state: oneOf(false),
}

const properties = 'properties'

function rewrite(node: Ast, scope: Scope): Ast {
  const kind = String(node.class)
  switch (kind) {
    case 'COLUMN_REF':
      return rewriteColumn(node, scope)
    case 'STAR':
      return rewriteStar(node, scope)
    case 'CONSTANT':
      return rewriteConstant(node, scope)
    case 'FUNCTION':
      return rewriteCall(node, scope)
    case 'OPERATOR':
      return rewriteOperator(node, scope)
    default: {
      const fields = Object.hasOwn(classes, kind) ? classes[kind] : undefined
      if (fields === undefined) throw notAllowed(kind.toLowerCase().replaceAll('_', ' '))
      const rewritten = applyFields(node, fields, scope, kind)
      if (kind === 'WINDOW') {
        // Each of the rows would have a list of all of them.
        if (rewritten.function_name === 'list') throw notAllowed('a list over a window')
        grow(rewritten, scope)
      }
      return rewritten
    }
  }
}

/** `*` without the columns that stand for fields of joined rows. */
function rewriteStar(node: Ast, scope: Scope): Ast {
  const rewritten = applyFields(node, star, scope, 'a star')
  const of = String(rewritten.relation_name).toLowerCase()
  const hidden = of === '' ? [...scope.hidden.values()].flat() : (scope.hidden.get(of) ?? [])
  return { ...rewritten, exclude_list: [...new Set([...listOf(rewritten.exclude_list), ...hidden])] }
}

/** `properties.$browser`, `e.person.properties.email`: what the JSON in `properties` holds there, as text. */
function rewriteColumn(node: Ast, scope: Scope): Ast {
  const fields: Fields = { ...common, type: oneOf('COLUMN_REF'), column_names: names }
  const column = applyFields(node, fields, scope, 'a column')
  const parts = listOf(column.column_names).map(String)
  if (parts.length === 1 && scope.isRow(parts[0]!.toLowerCase())) checkRowGrowth(scope)
  const found = joinedIn(parts, scope.isRow)
  if (found !== null) return joinedField(column, parts, found.joined, found.at)
  const at = parts.findIndex((part, index) => index < 2 && part.toLowerCase() === properties)
  if (at < 0 || at === parts.length - 1) return column
  const base = { ...column, alias: '', column_names: parts.slice(0, at + 1) }
  return propertyText(base, parts.slice(at + 1), column.alias)
}

/** `person.created_at`, `e.group_0.properties.name`: `at` is where the joined row's name stands. */
function joinedField(column: Ast, parts: readonly string[], joined: Joined, at: number): Ast {
  const field = parts[at + 1]!.toLowerCase()
  const name = fieldColumn(joined, field)
  if (name === null) throw refused(`Unknown field '${parts.slice(at).join('.').slice(0, 100)}'`)
  const base = { ...column, alias: '', column_names: [...parts.slice(0, at), name] }
  const keys = parts.slice(at + 2)
  if (field === properties && keys.length > 0) return propertyText(base, keys, column.alias)
  if (keys.length > 0) throw refused(`Unknown field '${parts.slice(at).join('.').slice(0, 100)}'`)
  return { ...base, alias: column.alias }
}

function propertyText(from: Ast, keys: readonly string[], alias: unknown): Ast {
  return callNode('json_extract_string', [from, textNode(pointerOf(keys))], { alias })
}

function rewriteConstant(node: Ast, scope: Scope): Ast {
  const value = nodeOf(node.value)
  const { id } = nodeOf(value.type)
  oneOf(...constantTypes)(id, scope)
  const isPlain = ['string', 'number', 'boolean', 'undefined'].includes(typeof value.value)
  if (!isPlain) throw refused('A number of the query has too many digits')
  applyFields(node, { ...common, type: oneOf('VALUE_CONSTANT'), value: () => null }, scope, 'a constant')
  if (id === 'BIGINT' && typeof value.value === 'string') {
    return { ...castNode(textNode(value.value), 'BIGINT'), alias: node.alias }
  }
  if (id !== 'VARCHAR' && typeof value.value === 'string') {
    throw refused('A number of the query has too many digits')
  }
  return { ...node, query_location: 0 }
}

function rewriteOperator(node: Ast, scope: Scope): Ast {
  const operator = applyFields(node, operators, scope, 'an operator')
  const [from, key] = listOf(operator.children).map(nodeOf)
  const text = key === undefined ? null : textOf(key)
  // properties['$browser']
  const isProperty = operator.type === 'ARRAY_EXTRACT' && from !== undefined && isProperties(from)
  return isProperty && text !== null ? propertyText(from, [text], operator.alias) : operator
}

function isProperties(node: Ast): boolean {
  const last = node.class === 'COLUMN_REF' ? listOf(node.column_names).at(-1) : null
  return typeof last === 'string' && /^(?:_(?:person|group_[0-4])_)?properties$/i.test(last)
}

function rewriteCall(node: Ast, scope: Scope): Ast {
  const call = applyFields(node, calls, scope, 'a function')
  const given = String(call.function_name)
  const args = listOf(call.children).map(nodeOf)
  const translated = translateCall(given.toLowerCase(), args)
  if (translated !== null) {
    if (call.filter !== null || call.distinct === true) throw notAllowed(`filter or distinct of ${given}`)
    // An argument may come back as it is, under a name of its own.
    for (const made of args.includes(translated) ? [] : callsIn(translated, args)) grow(made, scope)
    return { ...translated, alias: call.alias }
  }
  const rewritten = { ...call, function_name: allowedName(given), children: keyedArguments(given, args) }
  grow(rewritten, scope)
  return rewritten
}

/** The calls that a translation has put around `args`. */
function callsIn(node: Ast, args: readonly Ast[]): Ast[] {
  const inner = Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]))
  const nodes = inner.filter((value): value is Ast => typeof value === 'object' && value !== null)
  const below = nodes.filter((value) => !args.includes(value)).flatMap((value) => callsIn(value, args))
  return node.class === 'FUNCTION' ? [node, ...below] : below
}

function allowedName(given: string): string {
  const lower = given.toLowerCase()
  if (isAllowed(lower)) return lower
  const near = nearNames(lower, [...allowedNames, ...translatedNames])
  const hint = near.length === 0 ? '' : `. Did you mean ${near.join(', ')}?`
  throw refused(`Unknown function '${given.slice(0, 100)}'${hint}`)
}

function grow(node: Ast, scope: Scope): void {
  checkGrowth(String(node.function_name).toLowerCase(), listOf(node.children).map(nodeOf), scope)
}

/** `->> '$browser'` means a key; DuckDB takes what begins with a dollar sign for a path unless it goes on as one. */
function keyedArguments(given: string, args: readonly Ast[]): readonly Ast[] {
  const [from, key] = args
  const text = key === undefined ? null : textOf(key)
  if ((given !== '->' && given !== '->>') || from === undefined || text === null) return args
  return [from, textNode(/^(?:\$(?:[.[]|$)|\/)/.test(text) ? text : pointerOf([text]))]
}
