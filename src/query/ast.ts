// DuckDB's syntax tree as `json_serialize_sql` prints it: read, and built in pieces. A node says what it is in `class`
// and `type`; every node that we build carries all its fields, as the way back (`json_deserialize_sql`) asks.

import { ServiceError } from '../errors.ts'

export type Ast = Readonly<Record<string, unknown>>

const failed = 'Failed to parse query'

/**
 * The one statement of a printed tree. Whole numbers beyond 2^53 come as text.
 * Errors: invalid_input for text that DuckDB could not parse, for anything but one SELECT.
 */
export function readStatement(printed: string): Ast {
  // Names and values of people stand in strings, where a quote is escaped: this pattern only meets numbers.
  const tree = parse(printed.replace(/"value":(-?\d{16,})(?=[,}])/g, '"value":"$1"'))
  if (tree.error === true) {
    // DuckDB's message quotes the query around the fault, which is the caller's own.
    const message = String(tree.error_message).split('\n')[0]
    const isOther = tree.error_type === 'not implemented'
    throw refused(isOther ? `${failed}: only SELECT statements are allowed` : `${failed}: ${message}`)
  }
  const statements = listOf(tree.statements)
  const [only] = statements
  if (only === undefined || statements.length > 1) throw refused(`${failed}: expected one SELECT statement`)
  return nodeOf(nodeOf(only).node)
}

/** The text that `json_deserialize_sql` takes back. */
export function printStatement(node: Ast): string {
  const tree = { error: false, statements: [{ node, named_param_map: [] }] }
  // Where something stood is a number of 64 bits, which ours do not hold, and means nothing any more.
  return JSON.stringify(tree, (key, value: unknown) => (key === 'query_location' ? 0 : value))
}

export function nodeOf(value: unknown): Ast {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Ast // JSON's objects
  throw refused(`${failed}: unexpected syntax`)
}

export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw refused(`${failed}: unexpected syntax`)
}

export function textNode(value: string): Ast {
  return constant('VARCHAR', value)
}

export function integerNode(value: number): Ast {
  return constant('INTEGER', value)
}

export function nullNode(): Ast {
  const value = { type: { id: 'NULL', type_info: null }, is_null: true }
  return { class: 'CONSTANT', type: 'VALUE_CONSTANT', alias: '', query_location: 0, value }
}

export function callNode(name: string, children: readonly Ast[], more: Partial<Ast> = {}): Ast {
  return {
    class: 'FUNCTION',
    type: 'FUNCTION',
    alias: '',
    query_location: 0,
    function_name: name,
    schema: '',
    catalog: '',
    children,
    filter: null,
    order_bys: { type: 'ORDER_MODIFIER', orders: [] },
    distinct: false,
    is_operator: false,
    export_state: false,
    ...more,
  }
}

export function castNode(child: Ast, type: string, isTry = false): Ast {
  const castType = { id: type, type_info: null }
  return {
    class: 'CAST',
    type: 'OPERATOR_CAST',
    alias: '',
    query_location: 0,
    child,
    cast_type: castType,
    try_cast: isTry,
  }
}

export function columnNode(names: readonly string[]): Ast {
  return { class: 'COLUMN_REF', type: 'COLUMN_REF', alias: '', query_location: 0, column_names: names }
}

export function operatorNode(type: string, children: readonly Ast[]): Ast {
  return { class: 'OPERATOR', type, alias: '', query_location: 0, children }
}

export function caseNode(checks: readonly (readonly [when: Ast, then: Ast])[], otherwise: Ast): Ast {
  const caseChecks = checks.map(([when, then]) => ({ when_expr: when, then_expr: then }))
  return {
    class: 'CASE',
    type: 'CASE_EXPR',
    alias: '',
    query_location: 0,
    case_checks: caseChecks,
    else_expr: otherwise,
  }
}

export function compareNode(type: string, left: Ast, right: Ast): Ast {
  return { class: 'COMPARISON', type, alias: '', query_location: 0, left, right }
}

/** A constant's text, or null when `node` is something else. */
export function textOf(node: Ast): string | null {
  const value = node.class === 'CONSTANT' ? nodeOf(node.value) : null
  return typeof value?.value === 'string' && nodeOf(value.type).id === 'VARCHAR' ? value.value : null
}

export function refused(detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail })
}

function constant(type: string, value: string | number): Ast {
  const typed = { type: { id: type, type_info: null }, is_null: false, value }
  return { class: 'CONSTANT', type: 'VALUE_CONSTANT', alias: '', query_location: 0, value: typed }
}

function parse(printed: string): Ast {
  try {
    return nodeOf(JSON.parse(printed))
  } catch (cause) {
    // DuckDB prints a number beyond a double as Infinity, which is no JSON.
    throw new ServiceError('invalid_input', { detail: `${failed}: a number is too large`, cause })
  }
}
