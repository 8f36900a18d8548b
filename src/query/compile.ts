// From SQL of people to SQL that may run: parsed by DuckDB itself, allowed and rewritten on the syntax tree, printed by
// DuckDB again. What comes out is parsed once more and looked through, so that a fault of the printer, or of ours, ends
// in an error instead of in somebody else's rows.

import { ServiceError } from '../errors.ts'
import { isAllowed } from './allowed-functions.ts'
import {
  type Ast,
  columnNode,
  compareNode,
  integerNode,
  nodeOf,
  printStatement,
  readStatement,
} from './ast.ts'
import { rewriteStatement, type Source } from './rewrite.ts'
import { sourceText } from './source-text.ts'

/** Runs our own SQL: `Events.query`. */
export interface SqlRunner {
  query(sql: string, values?: readonly string[]): Promise<{ readonly rows: readonly (readonly unknown[])[] }>
}

/** What people may read, by the name they read it under, as a SELECT without its project. */
const tables: Readonly<Record<string, string>> = {
  events: `
    select uuid, event, distinct_id, person_id, timestamp, properties, elements_chain, received_at as created_at,
      received_at as inserted_at, project_id as team_id, json_extract_string(properties, '/$session_id') as
      "$session_id", json_extract_string(properties, '/$window_id') as "$window_id"
    from main.events`,
}

/** Parses a query as people write it. Errors: invalid_input. */
export async function parseQuery(runner: SqlRunner, text: string): Promise<Ast> {
  return parse(runner, sourceText(text))
}

/** SQL for the rows of one project alone. Errors: invalid_input for what is not allowed. */
export async function compileQuery(runner: SqlRunner, statement: Ast, projectId: number): Promise<string> {
  const sources = await Promise.all(
    Object.entries(tables).map(async ([name, sql]): Promise<Source> => {
      const select = await parse(runner, sql)
      const isProjects = compareNode('COMPARE_EQUAL', columnNode(['project_id']), integerNode(projectId))
      return { name, select: { ...select, where_clause: isProjects } }
    }),
  )
  const sql = await print(runner, rewriteStatement(statement, sources))
  checkPrinted(await parse(runner, sql), sources.length)
  return sql
}

/** A statement in one line, as DuckDB writes it. */
export async function print(runner: SqlRunner, statement: Ast): Promise<string> {
  const sql = 'select json_deserialize_sql($1::varchar::json)'
  const { rows } = await runner.query(sql, [printStatement(statement)])
  return String(rows[0]?.[0])
}

async function parse(runner: SqlRunner, text: string): Promise<Ast> {
  const { rows } = await runner.query('select json_serialize_sql($1::varchar)', [text])
  return readStatement(String(rows[0]?.[0]))
}

/** Nodes that no rewritten statement holds. */
const strangers = /TABLE_FUNCTION|SHOW_REF|PIVOT|RECURSIVE|EXPRESSION_LIST|COLUMN_DATA|PARAMETER|LAMBDA/

/** Looks for tables and functions that must not be there. Errors: internal. */
function checkPrinted(statement: Ast, sourceCount: number): void {
  let own = 0
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      value.forEach(visit)
      return
    }
    const node = nodeOf(value)
    if (node.type === 'BASE_TABLE') {
      const isOurs = node.schema_name === 'main' && node.table_name === 'events'
      if (isOurs) own++
      else if (!/^[sq]_/.test(String(node.table_name)) || node.schema_name !== '') throw astray('a table')
    }
    if (node.class === 'FUNCTION' && !isAllowed(String(node.function_name))) throw astray('a function')
    if (typeof node.type === 'string' && strangers.test(node.type)) throw astray(node.type)
    Object.values(node).forEach(visit)
  }
  visit(statement)
  if (own !== sourceCount) throw astray('a source')
}

function astray(what: string): ServiceError {
  return new ServiceError('internal', { detail: `a rewritten query came back with ${what} of its own` })
}
