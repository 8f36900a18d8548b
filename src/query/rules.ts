// How a node of a syntax tree is allowed: by a table that names each of its fields with a rule for what it may hold.
// A field that no table names, and a value that no rule allows, refuse the query. So what DuckDB's parser learns
// tomorrow is refused until somebody has thought about it.

import { type Ast, listOf, nodeOf, refused } from './ast.ts'

/** What a query may still use up: shared by all of its parts. */
export interface Budget {
  /** Times the longest value may still be held in one result. */
  growth: number
  /** True once a function gathers values of many rows in one. */
  isGathering: boolean
}

export interface Table {
  /** What it is called in the rewritten query. */
  readonly name: string
  /** Tables of ours that reading it comes down to. */
  readonly cost: number
  /** Columns that `*` leaves out. */
  readonly hidden: readonly string[]
}

/** What holds at one place of a query. */
export interface Scope {
  /** Tables by name, in lower case. */
  readonly tables: ReadonlyMap<string, Table>
  /** Columns that `*` leaves out, by the name of what has them in this SELECT's FROM. */
  readonly hidden: ReadonlyMap<string, readonly string[]>
  readonly budget: Budget
  readonly depth: number
  /** True for what may name the rows of something in a FROM, in lower case. */
  readonly isRow: (name: string) => boolean
  /** Rewrites a whole SELECT, for the subqueries of expressions. */
  readonly select: (node: Ast, scope: Scope) => Ast
}

/** Returns the value of a field as it may stand in the query that runs, or refuses it. */
export type Rule = (value: unknown, scope: Scope) => unknown

export interface Fields {
  readonly [field: string]: Rule
}

/** Nodes in nodes. DuckDB's own limit is 1000; a query of people has ten or twenty. */
const depthMax = 200

/** Rewrites `node`, every field by its rule. `kind` is what the node is called when it is refused. */
export function applyFields(node: Ast, fields: Fields, scope: Scope, kind: string): Ast {
  const built: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(node)) {
    const rule = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (rule === undefined) throw notAllowed(`${kind} with ${name}`)
    built[name] = rule(value, scope)
  }
  return built
}

/** The same scope, one node deeper. Errors: invalid_input for a tree that is too deep. */
export function deeper(scope: Scope): Scope {
  if (scope.depth >= depthMax) throw refused(`Expressions are nested deeper than ${depthMax}`)
  return { ...scope, depth: scope.depth + 1 }
}

/** A name or a word: short, and no control characters. */
export const name: Rule = (value) => {
  if (typeof value === 'string' && value.length <= 256 && !/\p{Cc}/u.test(value)) return value
  throw notAllowed('this name')
}

export const names: Rule = (value, scope) => listOf(value).map((one) => name(one, scope))

export const flag: Rule = (value) => {
  if (typeof value === 'boolean') return value
  throw notAllowed('this syntax')
}

/** Where a node stood in the text: of no use once the query is rewritten, and too large for a number of ours. */
export const place: Rule = () => 0

/** Exactly one of `values`. */
export function oneOf(...values: readonly unknown[]): Rule {
  return (value) => {
    if (values.includes(value)) return value
    throw notAllowed(typeof value === 'string' && value !== '' ? plain(value) : 'this syntax')
  }
}

/** A field that must not be used: null, empty, false. */
export const unused: Rule = (value) => {
  const isEmpty = Array.isArray(value)
    ? value.length === 0
    : value === null || value === '' || value === false
  if (isEmpty) return value
  throw notAllowed('this syntax')
}

export function listRule(rule: Rule): Rule {
  return (value, scope) => listOf(value).map((one) => rule(one, scope))
}

export function orNull(rule: Rule): Rule {
  return (value, scope) => (value === null ? null : rule(value, scope))
}

/** An object with these fields and no others. */
export function objectRule(fields: Fields, kind: string): Rule {
  return (value, scope) => applyFields(nodeOf(value), fields, scope, kind)
}

/** Counts a function whose result may hold one of its arguments `times` times. */
export function spendGrowth(scope: Scope, times: number): void {
  scope.budget.growth /= Math.max(1, times)
  if (scope.budget.growth < 1) {
    throw refused('The query joins or replaces too much text: its results could grow without limit')
  }
}

export function notAllowed(what: string): Error {
  return refused(`${what} is not allowed in a query`)
}

/** "RECURSIVE_CTE_NODE" as words. */
function plain(type: string): string {
  return type.slice(0, 60).replaceAll('_', ' ')
}
