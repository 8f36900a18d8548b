// From SQL of people to SQL that may run: parsed by DuckDB itself, allowed and rewritten on the syntax tree, printed by
// DuckDB again. What comes out is parsed once more and looked through, so that a fault of the printer, or of ours, ends
// in an error instead of in somebody else's rows.

import { ServiceError } from '../errors.ts'
import { isAllowed } from './allowed-functions.ts'
import { type Ast, nodeOf, printStatement, readStatement, refused } from './ast.ts'
import { type ColumnNames, nameColumns } from './column-names.ts'
import { rewriteStatement, type Source } from './rewrite.ts'
import { sourceText } from './source-text.ts'
import { peopleTable, type TableName } from './tables.ts'
import { usesOf } from './uses.ts'

/** Runs our own SQL: `Events.query`. */
export interface SqlRunner {
  query(sql: string, values?: readonly string[]): Promise<{ readonly rows: readonly (readonly unknown[])[] }>
}

/** Parses a query as people write it. Errors: invalid_input. */
export async function parseQuery(runner: SqlRunner, text: string): Promise<Ast> {
  return parse(runner, sourceText(text))
}

/**
 * SQL for the rows of one project alone. `tables` are those that it may name; rows of others than events must have been
 * copied for it, as `usesOf` says. `names` are for columns that it does not name, as `columnNames` has them.
 * Errors: invalid_input for what is not allowed.
 */
export async function compileQuery(
  runner: SqlRunner,
  statement: Ast,
  projectId: number,
  tables: readonly TableName[] = ['events'],
  names: ColumnNames = [],
): Promise<string> {
  const { joins, tables: read } = usesOf(statement)
  if (joins.length > 0 && !tables.includes('persons')) {
    throw refused('Fields of persons and groups cannot be read here')
  }
  const sources = await Promise.all(
    tables.map(async (name): Promise<Source> => {
      const { sql, hidden } = peopleTable(name, projectId, joins)
      // What the query does not name is known and not there: the copies behind it may not be either.
      const select = read.has(name) ? await parse(runner, sql) : null
      return { name, select, hidden }
    }),
  )
  const rewritten = nameColumns(rewriteStatement(statement, sources), names)
  const sql = await print(runner, rewritten)
  const ours = sources.flatMap(({ select }) => (select === null ? [] : ownTables(select)))
  checkPrinted(await parse(runner, sql), ours)
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

/** Looks for tables and functions that must not be there, and for our own. Errors: internal. */
function checkPrinted(statement: Ast, ours: readonly string[]): void {
  const found: string[] = []
  visitNodes(statement, (node) => {
    if (node.type === 'BASE_TABLE') {
      if (node.schema_name === 'main') found.push(fullName(node))
      else if (!/^[sq]_/.test(String(node.table_name)) || node.schema_name !== '' || node.catalog_name !== '')
        throw astray('a table')
    }
    if (node.class === 'FUNCTION' && !isAllowed(String(node.function_name))) throw astray('a function')
    if (typeof node.type === 'string' && strangers.test(node.type)) throw astray(node.type)
  })
  if (found.sort().join() !== [...ours].sort().join()) throw astray('a source')
}

/** The tables of the store that one of our own SELECTs reads. */
function ownTables(select: Ast): string[] {
  const found: string[] = []
  visitNodes(select, (node) => {
    if (node.type === 'BASE_TABLE') found.push(fullName(node))
  })
  return found
}

function visitNodes(value: unknown, visit: (node: Ast) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) visit(nodeOf(value))
  for (const inner of Object.values(value)) visitNodes(inner, visit)
}

function fullName({ catalog_name: catalog, schema_name: schema, table_name: table }: Ast): string {
  return [catalog, schema, table].join('.')
}

function astray(what: string): ServiceError {
  return new ServiceError('internal', { detail: `a rewritten query came back with ${what} of its own` })
}
