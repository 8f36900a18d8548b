// The query of an export: one plain SELECT from events, which makes a row of an event. Anything with more tables could
// not be cut into intervals, and what looks at more than one row would see those of a chunk only.

import { isServiceError, ServiceError } from '../errors.ts'
import { type Ast, columnNode, integerNode, listOf, nodeOf } from '../query/ast.ts'
import { type ColumnNames, columnNames } from '../query/column-names.ts'
import { compileQuery, parseQuery, print, type SqlRunner } from '../query/compile.ts'

/** What a query makes of an event, as the API shows it. */
export interface QuerySchema {
  readonly fields: readonly { readonly expression: string; readonly alias: string }[]
  readonly values: Readonly<Record<string, never>>
  /** In one line. */
  readonly hogql_query: string
}

/** Bytes of a column's name that we give: Postgres cuts names to 63, and a number may have to follow. */
const nameBytesMax = 60

/** Errors: invalid_input with attr hogql_query, in PostHog's words. */
export async function readExportQuery(
  runner: SqlRunner,
  text: string,
  projectId: number,
): Promise<QuerySchema> {
  const statement = await parse(runner, text)
  checkShape(statement)
  checkRows(statement)
  await check(runner, statement, projectId)
  await checkAggregates(runner, statement, projectId)
  const names = exportColumnNames(text, statement)
  const fields = []
  for (const [index, item] of listOf(statement.select_list).map(nodeOf).entries()) {
    const expression = await printExpression(runner, item)
    fields.push({ expression, alias: names[index] ?? (String(item.alias) || expression) })
  }
  return { fields, values: {}, hogql_query: await print(runner, statement) }
}

/** What the columns of an export are called that its query does not name. */
export function exportColumnNames(text: string, statement: Ast): ColumnNames {
  return columnNames(text, statement).map((name) => (name === null ? null : cut(name)))
}

function cut(name: string): string {
  // What is left of a character that the cut goes through reads as U+FFFD.
  const text = Buffer.from(name).subarray(0, nameBytesMax).toString()
  return text === name ? name : text.replace(/[\ufffd\s]+$/, '')
}

async function parse(runner: SqlRunner, text: string): Promise<Ast> {
  try {
    return await parseQuery(runner, text)
  } catch (error) {
    if (isServiceError(error, 'invalid_input')) throw fault('Failed to parse query', error)
    throw error
  }
}

function checkShape(statement: Ast): void {
  if (statement.type === 'SET_OPERATION_NODE') throw fault('UNIONs are not supported')
  if (statement.type !== 'SELECT_NODE') throw fault('Failed to parse query')
  const from = nodeOf(statement.from_table)
  if (from.type === 'JOIN') throw fault('JOINs are not supported')
  if (
    from.type === 'SUBQUERY' ||
    listOf(nodeOf(statement.cte_map).map).length > 0 ||
    hasSubquery(statement)
  ) {
    throw fault('Subqueries or CTEs are not supported')
  }
  if (from.type === 'EMPTY') throw fault('Query must SELECT FROM events')
  const isEvents = from.type === 'BASE_TABLE' && String(from.table_name).toLowerCase() === 'events'
  if (!isEvents) throw fault('Query must only SELECT FROM events')
}

/** What counts rows, compares them, or puts them together. */
function checkRows(statement: Ast): void {
  const modifiers = listOf(statement.modifiers).map((modifier) => nodeOf(modifier).type)
  if (modifiers.some((type) => type !== 'ORDER_MODIFIER')) throw notByRow('LIMIT, OFFSET and DISTINCT')
  if (holdsWindow(statement)) throw notByRow('window functions')
  const isGrouped = listOf(statement.group_expressions).length > 0 || statement.having !== null
  if (isGrouped || statement.aggregate_handling !== 'STANDARD_HANDLING') throw notByRow('aggregates')
}

/** Which functions aggregate, the store knows: beside one of them it refuses a column that stands alone. */
async function checkAggregates(runner: SqlRunner, statement: Ast, projectId: number): Promise<void> {
  const select_list = [...listOf(statement.select_list), columnNode(['uuid'])]
  try {
    await check(runner, { ...statement, select_list }, projectId)
  } catch (error) {
    if (isServiceError(error, 'invalid_input')) throw notByRow('aggregates', error)
    throw error
  }
}

function notByRow(what: string, cause?: unknown): ServiceError {
  return fault(`Query must make one row of each event: ${what} would see one chunk of a run at a time`, cause)
}

function holdsWindow(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return ('class' in value && value.class === 'WINDOW') || Object.values(value).some(holdsWindow)
}

function hasSubquery(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return ('class' in value && value.class === 'SUBQUERY') || Object.values(value).some(hasSubquery)
}

/** Lets the store itself look at the query, without reading a row. */
async function check(runner: SqlRunner, statement: Ast, projectId: number): Promise<void> {
  const none = { type: 'LIMIT_MODIFIER', limit: integerNode(0), offset: null }
  try {
    await runner.query(await compileQuery(runner, { ...statement, modifiers: [none] }, projectId))
  } catch (error) {
    // What DuckDB's binder says comes without a code of its own.
    const isTheirs =
      isServiceError(error, 'invalid_input') ||
      /^(Binder|Catalog|Conversion|Invalid Input) Error/.test(
        error instanceof ServiceError ? error.detail : String(error).replace(/^Error: /, ''),
      )
    if (!isTheirs) throw error
    const reason = error instanceof ServiceError ? error.detail : String(error).replace(/^Error: /, '')
    throw fault(`Invalid HogQL query: ${reason.split('\n')[0]}`, error)
  }
}

async function printExpression(runner: SqlRunner, item: Ast): Promise<string> {
  const from = { type: 'EMPTY', alias: '', sample: null, query_location: 0 }
  const statement = {
    type: 'SELECT_NODE',
    modifiers: [],
    cte_map: { map: [] },
    select_list: [{ ...item, alias: '' }],
    from_table: from,
    where_clause: null,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: 'STANDARD_HANDLING',
    having: null,
    sample: null,
    qualify: null,
  }
  return (await print(runner, statement)).replace(/^SELECT /, '')
}

function fault(detail: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_input', { detail, attr: 'hogql_query', cause })
}
