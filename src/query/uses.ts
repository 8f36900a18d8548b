// What a query reads, seen before it is rewritten: which tables, which rows joined to them, and which properties. It
// decides what is copied from Postgres, so it may say too much and never too little: whatever could show all of a
// person's properties counts as all of them.

import { type CopiedTable, copiedTables } from '../events/copied-rows.ts'
import { type Ast, listOf, nodeOf, textOf } from './ast.ts'
import { copyOf, type Joined, joinedRows } from './tables.ts'

export interface Uses {
  /** In lower case; those of the query's own WITH are among them. */
  readonly tables: ReadonlySet<string>
  readonly joins: readonly Joined[]
  /** Top-level keys of properties, whosever they are; null when it may be any. */
  readonly keys: readonly string[] | null
  readonly copies: readonly CopiedTable[]
}

/** More keys than these are not worth picking. */
const keysMax = 50
/** Functions whose arguments are properties and keys. */
const keyFunctions = /^(?:->>?|jsonextract\w*|jsonhas|jsonlength|jsontype|json_extract(?:_string)?)$/
const properties = 'properties'

export function usesOf(statement: Ast): Uses {
  const rowNames = rowNamesOf(statement)
  const scan: Scan = { rowNames, tables: new Set(), joins: new Set(), keys: new Set(), isWhole: false }
  visit(statement, scan)
  const joins = joinedRows.filter((joined) => scan.joins.has(joined))
  const copies = new Set([...scan.tables].map(copyOf))
  for (const joined of joins) copies.add(joined === 'person' ? 'person' : 'group')
  const isAny = scan.isWhole || scan.keys.size > keysMax
  return {
    tables: scan.tables,
    joins,
    keys: isAny ? null : [...scan.keys],
    copies: copiedTables.filter((table) => copies.has(table)),
  }
}

/** Whatever stands in a FROM, in lower case: a name of it without a column means a whole row. */
export function rowNamesOf(statement: Ast): ReadonlySet<string> {
  const found = new Set<string>()
  findRowNames(statement, found)
  return found
}

function findRowNames(value: unknown, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) {
    const { class: kind, alias, table_name: table } = nodeOf(value)
    for (const name of kind === undefined ? [alias, table] : [])
      if (typeof name === 'string' && name !== '') found.add(name.toLowerCase())
  }
  for (const inner of Object.values(value)) findRowNames(inner, found)
}

/** Which joined row a column's name goes through, and at which of its parts: `person.x`, `e.group_0.x`. */
export function joinedIn(
  parts: readonly string[],
  isRow: (name: string) => boolean,
): { readonly joined: Joined; readonly at: number } | null {
  for (const at of [0, 1]) {
    const name = parts[at]?.toLowerCase()
    if (name === undefined || name === properties || at === parts.length - 1) return null
    const joined = joinedRows.find((one) => one === name)
    // A table of that name comes before the joined row.
    if (joined !== undefined && !(at === 0 && isRow(name))) return { joined, at }
  }
  return null
}

interface Scan {
  readonly rowNames: ReadonlySet<string>
  readonly tables: Set<string>
  readonly joins: Set<Joined>
  readonly keys: Set<string>
  isWhole: boolean
}

function visit(value: unknown, scan: Scan): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const one of value) visit(one, scan)
    return
  }
  const node = nodeOf(value)
  if (node.type === 'BASE_TABLE') visitTable(node, scan)
  if (node.type === 'JOIN') visitJoin(node, scan)
  if (node.class === 'STAR') scan.isWhole = true
  if (node.class === 'COLUMN_REF') visitColumn(listOf(node.column_names).map(String), scan)
  else if (!visitKeyed(node, scan)) for (const inner of Object.values(node)) visit(inner, scan)
}

function visitTable(node: Ast, scan: Scan): void {
  scan.tables.add(String(node.table_name).toLowerCase())
  // Columns under new names could be any.
  if (listOf(node.column_name_alias).length > 0) scan.isWhole = true
}

function visitJoin(node: Ast, scan: Scan): void {
  const using = listOf(node.using_columns).map((name) => String(name).toLowerCase())
  if (node.ref_type === 'NATURAL' || using.includes(properties)) scan.isWhole = true
}

function visitColumn(parts: readonly string[], scan: Scan): void {
  const isRow = (name: string): boolean => scan.rowNames.has(name)
  const found = joinedIn(parts, isRow)
  if (found !== null) scan.joins.add(found.joined)
  const at = parts.findIndex((part) => part.toLowerCase() === properties)
  const key = at < 0 ? undefined : parts[at + 1]
  if (key !== undefined) scan.keys.add(key)
  else if (at >= 0 || parts.length === 1) scan.isWhole ||= at >= 0 || isRow(parts[0]!.toLowerCase())
}

/** `properties['x']`, `properties ->> 'x'`, `JSONExtractString(properties, 'x')`: returns false for anything else. */
function visitKeyed(node: Ast, scan: Scan): boolean {
  const isKeyed = node.type === 'ARRAY_EXTRACT' || keyFunctions.test(String(node.function_name ?? ''))
  if (!isKeyed) return false
  const [from, key, ...others] = listOf(node.children).map(nodeOf)
  if (from?.class !== 'COLUMN_REF' || key === undefined) return false
  const parts = listOf(from.column_names).map(String)
  const text = textOf(key)
  // What begins like a path may name anything.
  if (parts.at(-1)?.toLowerCase() !== properties || text === null || /^[$/]/.test(text)) return false
  visitColumn([...parts, text], scan)
  visit([...others, { ...node, class: null, children: [] }], scan)
  return true
}
