// Rewrites one SELECT to one project's rows.
//
// The tree is built anew from what is allowed, so that nothing else can be in it. Every table in it is called
// `s_<name>`, one of the sources given, or `q_<name>`, a subquery in the query's own WITH: no table of the store has
// such a name, so a reference that escaped this file would find nothing at all, in no project.

import { type Ast, listOf, nodeOf, refused } from './ast.ts'
import { expression, expressions, orders } from './expression.ts'
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
  type Table,
  unused,
} from './rules.ts'
import { rowNamesOf } from './uses.ts'

/** What stands in for a table: a named subquery that holds one project's rows. */
export interface Source {
  /** As people write it, in lower case. */
  readonly name: string
  /** The body of its WITH, as `readStatement` reads it; null when the query does not name it. */
  readonly select: Ast | null
  /** Columns that `*` leaves out. */
  readonly hidden: readonly string[]
}

/** Rows that one result may need at most for each row of the longest value; see growth.ts. */
const growthMax = 64
/** Tables that a query may read, those of its subqueries counted every time they are used. */
const costMax = 16
/** SELECTs in a query, however they are put together. */
const selectsMax = 100
/** What DuckDB calls subqueries without a name, with a number behind it. */
const unnamed = 'unnamed_subquery'
/** Plain names only: others could mean files. */
const tableName = /^[a-z_][a-z0-9_]{0,62}$/

/**
 * The statement over `sources` instead of tables.
 * Errors: invalid_input for whatever is not allowed, with what it was.
 */
export function rewriteStatement(statement: Ast, sources: readonly Source[]): Ast {
  const tables = new Map(
    sources.map(({ name, hidden }) => [name, { name: `s_${name}`, cost: 1, hidden }] as const),
  )
  const cost = { left: costMax, selects: selectsMax }
  const budget = { growth: growthMax, isGathering: false }
  const rowNames = rowNamesOf(statement)
  const isRow = (name: string) => rowNames.has(name) || name.startsWith(unnamed)
  const inner: Scope['select'] = (node, scope) => select(node, scope, cost)
  const scope: Scope = { tables, hidden: new Map(), budget, depth: 0, isRow, select: inner }
  const rewritten = select(statement, scope, cost)
  const own = listOf(nodeOf(rewritten.cte_map).map)
  return { ...rewritten, cte_map: { map: [...sources.flatMap(sourceEntry), ...own] } }
}

/** What a query may still read. */
interface Cost {
  left: number
  selects: number
}

function sourceEntry({ name, select }: Source): Ast[] {
  if (select === null) return []
  const query = { node: select, named_param_map: [] }
  const value = { aliases: [], query, materialized: 'CTE_MATERIALIZE_NEVER', key_targets: [] }
  return [{ key: `s_${name}`, value }]
}

function select(node: Ast, given: Scope, cost: Cost): Ast {
  if (--cost.selects < 0) throw refused(`The query has more than ${selectsMax} SELECTs`)
  const withs = rewriteWiths(node.cte_map, deeper(given), cost)
  const hidden =
    node.type === 'SELECT_NODE' ? hiddenIn(nodeOf(node.from_table), withs.scope.tables) : new Map()
  const scope: Scope = { ...withs.scope, hidden }
  const fields: Fields = {
    type: oneOf('SELECT_NODE', 'SET_OPERATION_NODE'),
    modifiers: (value, inner) => listOf(value).map((one) => rewriteModifier(nodeOf(one), inner)),
    cte_map: () => ({ map: withs.entries }),
    ...(node.type === 'SET_OPERATION_NODE' ? setOperation(cost) : selectFields(cost)),
  }
  return applyFields(node, fields, scope, 'a query')
}

/** The columns that `*` leaves out, of each table in a FROM that has such. */
function hiddenIn(from: Ast, tables: Scope['tables']): ReadonlyMap<string, readonly string[]> {
  if (from.type === 'JOIN') {
    const sides = [hiddenIn(nodeOf(from.left), tables), hiddenIn(nodeOf(from.right), tables)]
    const both = new Map(sides.flatMap((side) => [...side]))
    if (from.ref_type === 'NATURAL' && both.size > 0)
      throw notAllowed('NATURAL JOIN beside fields of persons or groups')
    return both
  }
  if (from.type !== 'BASE_TABLE') return new Map()
  const name = String(from.table_name).toLowerCase()
  const hidden = tables.get(name)?.hidden ?? []
  const called = from.alias === '' ? name : String(from.alias).toLowerCase()
  return hidden.length === 0 ? new Map() : new Map([[called, hidden]])
}

function setOperation(cost: Cost): Fields {
  const side: Rule = (value, scope) => select(nodeOf(value), scope, cost)
  return {
    setop_type: oneOf('UNION', 'EXCEPT', 'INTERSECT', 'UNION_BY_NAME'),
    // Two sides in an older format, a list of them in a newer one.
    left: orNull(side),
    right: orNull(side),
    children: listRule(side),
    setop_all: flag,
  }
}

function selectFields(cost: Cost): Fields {
  return {
    select_list: expressions,
    from_table: (value, scope) => rewriteFrom(nodeOf(value), deeper(scope), cost),
    where_clause: orNull(expression),
    group_expressions: expressions,
    group_sets: (value) => listOf(value).map((set) => listOf(set).map(Number)),
    aggregate_handling: oneOf('STANDARD_HANDLING', 'FORCE_AGGREGATES'),
    having: orNull(expression),
    sample: unused,
    qualify: orNull(expression),
  }
}

interface Withs {
  readonly entries: readonly Ast[]
  readonly scope: Scope
}

/** The query's own WITH: each part sees those before it. */
function rewriteWiths(value: unknown, scope: Scope, cost: Cost): Withs {
  const entries: Ast[] = []
  const tables = new Map<string, Table>(scope.tables)
  for (const entry of listOf(applyFields(nodeOf(value), { map: listOf }, scope, 'WITH').map).map(nodeOf)) {
    const key = String(entry.key).toLowerCase()
    if (!tableName.test(key)) throw notAllowed('this name of a WITH')
    const before = cost.left
    const inner: Scope = { ...scope, tables: new Map(tables) }
    const body = nodeOf(nodeOf(entry.value).query).node
    const node = select(nodeOf(body), inner, cost)
    const fields: Fields = {
      aliases: names,
      query: objectRule({ node: () => node, named_param_map: unused }, 'WITH'),
      materialized: oneOf('CTE_MATERIALIZE_DEFAULT', 'CTE_MATERIALIZE_ALWAYS', 'CTE_MATERIALIZE_NEVER'),
      key_targets: unused,
    }
    entries.push(
      applyFields(entry, { key: () => `q_${key}`, value: objectRule(fields, 'WITH') }, scope, 'WITH'),
    )
    tables.set(key, { name: `q_${key}`, cost: Math.max(1, before - cost.left), hidden: [] })
  }
  return { entries, scope: { ...scope, tables } }
}

function rewriteFrom(node: Ast, scope: Scope, cost: Cost): Ast {
  const common: Fields = { type: name, alias: name, sample: unused, query_location: place }
  const inner: Rule = (value, here) => rewriteFrom(nodeOf(value), deeper(here), cost)
  switch (node.type) {
    case 'EMPTY':
      return applyFields(node, common, scope, 'FROM')
    case 'BASE_TABLE':
      return rewriteTable(node, common, scope, cost)
    case 'SUBQUERY': {
      const query: Rule = (value, here) => select(nodeOf(value), here, cost)
      const subquery = objectRule({ node: query, named_param_map: unused }, 'a subquery')
      return applyFields(node, { ...common, subquery, column_name_alias: names }, scope, 'a subquery')
    }
    case 'JOIN': {
      const fields: Fields = {
        ...common,
        left: inner,
        right: inner,
        condition: orNull(expression),
        join_type: oneOf('INNER', 'LEFT', 'RIGHT', 'OUTER', 'SEMI', 'ANTI'),
        ref_type: oneOf('REGULAR', 'CROSS', 'NATURAL'),
        is_implicit: flag,
        using_columns: names,
        delim_flipped: oneOf(false),
        duplicate_eliminated_columns: unused,
      }
      return applyFields(node, fields, scope, 'JOIN')
    }
    default:
      throw notAllowed(`${String(node.type).toLowerCase().replaceAll('_', ' ')} in FROM`)
  }
}

function rewriteTable(node: Ast, common: Fields, scope: Scope, cost: Cost): Ast {
  const given = String(node.table_name)
  const table = scope.tables.get(given.toLowerCase())
  if (table === undefined || node.schema_name !== '' || node.catalog_name !== '') {
    const known = [...scope.tables.keys()].slice(0, 20).join(', ')
    throw refused(`Unknown table '${given.slice(0, 100)}'. Tables are: ${known}`)
  }
  cost.left -= table.cost
  if (cost.left < 0) throw refused(`The query reads tables more than ${costMax} times`)
  const fields: Fields = {
    ...common,
    alias: (value, here) => (value === '' ? given : name(value, here)),
    schema_name: unused,
    catalog_name: unused,
    table_name: () => table.name,
    column_name_alias: names,
    at_clause: unused,
  }
  return applyFields(node, fields, scope, 'a table')
}

const distinctOn: Rule = (value, scope) => expressions(value, scope)
const rowCount: Rule = (value) => {
  const constant = nodeOf(value)
  const count = constant.class === 'CONSTANT' ? nodeOf(constant.value).value : null
  if (Number.isInteger(count)) return { ...constant, query_location: 0 }
  throw refused('LIMIT and OFFSET must be whole numbers')
}

const modifiers: Readonly<Record<string, Fields>> = {
  ORDER_MODIFIER: { type: name, orders },
  LIMIT_MODIFIER: { type: name, limit: orNull(rowCount), offset: orNull(rowCount) },
  DISTINCT_MODIFIER: { type: name, distinct_on_targets: distinctOn },
}

function rewriteModifier(node: Ast, scope: Scope): Ast {
  const kind = String(node.type)
  const fields = Object.hasOwn(modifiers, kind) ? modifiers[kind] : undefined
  if (fields === undefined) throw notAllowed(kind.toLowerCase().replaceAll('_', ' '))
  return applyFields(node, fields, scope, kind)
}
