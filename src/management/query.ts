// POST /api/projects/:project_id/query/: SQL of people on their events, persons and groups.

import { setTimeout as delay } from 'node:timers/promises'
import { FileBytes, JsonText, type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import type { TenantSql } from '../api/tenant-sql.ts'
import type { Events } from '../events/client.ts'
import type { Copies } from '../events/selects.ts'
import type { Mirror } from '../mirror/mirror.ts'
import { columnNames } from '../query/column-names.ts'
import { compileQuery, parseQuery, print } from '../query/compile.ts'
import { limitStatement } from '../query/limit.ts'
import { tableNames } from '../query/tables.ts'
import { type Uses, usesOf } from '../query/uses.ts'
import { copyPersons } from './copied-persons.ts'

const input = Type.Object({
  query: Type.Object({
    kind: Type.Union([Type.Literal('HogQLQuery')]),
    query: Type.String({ minLength: 1, description: `One SELECT from ${tableNames.join(', ')}.` }),
  }),
  format: Type.Union([Type.Literal('json'), Type.Literal('parquet')], {
    default: 'json',
    description: 'parquet answers a file with all rows of the query, each column in its own type.',
  }),
})

const answer = Type.Object({
  columns: Type.Array(Type.String(), {
    description:
      'A field is called by its last part, an expression by its text, unless the query gives it a name.',
  }),
  types: Type.Array(Type.Array(Type.String()), {
    description: 'Name and type of each column, the type by the name that ClickHouse has for it.',
  }),
  results: Type.Array(Type.Array(Type.Unknown())),
  hasMore: Type.Boolean(),
  limit: Type.Integer(),
  offset: Type.Integer(),
  hogql: Type.String({ description: 'The query as it was understood.' }),
})

export interface QueryRooms {
  readonly events: Pick<Events, 'query' | 'select' | 'selectParquet'>
  readonly mirror: Pick<Mirror, 'waitUntilMirrored'>
}

/** Events are read with the persons of a moment ago; a mirror that is behind must not hold a query up. */
const mirroredMsMax = 1_000

export function queryCreate({ events, mirror }: QueryRooms): Operation {
  return projectOperation({
    method: 'POST',
    path: '/api/projects/:project_id/query',
    operationId: 'query_create',
    summary: 'Query events in SQL',
    tag: 'events',
    query: null,
    body: input,
    status: 200,
    response: answer,
    fileType: 'application/vnd.apache.parquet',
    handle: async ({ project, body, request, sql: tenant }) => {
      const statement = await parseQuery(events, body.query.query)
      const names = columnNames(body.query.query, statement)
      const copies = copiesFor(usesOf(statement), project.id, tenant, mirror)
      const onCancel = request.onGone
      if (body.format === 'parquet') {
        // Nothing in a file could tell that it lacks rows: it has all of them, or there is none.
        const sql = await compileQuery(events, statement, project.id, tableNames, names)
        return new FileBytes(await events.selectParquet({ sql, copies, onCancel }))
      }
      const limited = limitStatement(statement)
      const sql = await compileQuery(events, limited.statement, project.id, tableNames, names)
      const hogql = await print(events, statement)
      const selected = await events.select({ sql, rowsMax: limited.limit, copies, onCancel })
      const { columns, types, rowsText, hasMore } = selected
      const named = columns.map((column, index) => [column, types[index] ?? ''])
      const rest = { hasMore, limit: limited.limit, offset: limited.offset, hogql }
      // The rows are JSON already, and may be many: they are not parsed to be printed again.
      const head = JSON.stringify({ columns, types: named }).slice(0, -1)
      return new JsonText(`${head},"results":${rowsText},${JSON.stringify(rest).slice(1)}`)
    },
  })
}

function copiesFor(
  uses: Uses,
  projectId: number,
  tenant: TenantSql,
  mirror: QueryRooms['mirror'],
): Copies | null {
  const { copies: tables, keys } = uses
  if (tables.length === 0) return null
  return {
    projectId,
    tables,
    async fill(add) {
      await copyPersons(tenant, { projectId, tables, keys }, add)
      const tooLate = new AbortController()
      const mirrored = mirror.waitUntilMirrored().catch(() => {}) // a server that stops ends the query anyway
      const waited = delay(mirroredMsMax, undefined, { signal: tooLate.signal }).catch(() => {})
      await Promise.race([mirrored, waited])
      tooLate.abort()
    },
  }
}
