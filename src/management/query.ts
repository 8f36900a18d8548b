// POST /api/projects/:project_id/query/: SQL of people on their events.

import { Type } from 'typebox'
import { JsonText, type Operation, projectOperation } from '../api/operation.ts'
import type { Events } from '../events/client.ts'
import { compileQuery, parseQuery, print } from '../query/compile.ts'
import { limitStatement } from '../query/limit.ts'

const input = Type.Object({
  query: Type.Object({
    kind: Type.Union([Type.Literal('HogQLQuery')]),
    query: Type.String({ minLength: 1, description: 'One SELECT; its only table is events.' }),
  }),
})

const answer = Type.Object({
  columns: Type.Array(Type.String()),
  types: Type.Array(Type.Array(Type.String()), {
    description: 'Name and type of each column, as DuckDB has it.',
  }),
  results: Type.Array(Type.Array(Type.Unknown())),
  hasMore: Type.Boolean(),
  limit: Type.Integer(),
  offset: Type.Integer(),
  hogql: Type.String({ description: 'The query as it was understood.' }),
})

export function queryCreate(events: Pick<Events, 'query' | 'select'>): Operation {
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
    handle: async ({ project, body, request }) => {
      const statement = await parseQuery(events, body.query.query)
      const limited = limitStatement(statement)
      const sql = await compileQuery(events, limited.statement, project.id)
      const hogql = await print(events, statement)
      const selected = await events.select(sql, limited.limit, request.onGone)
      const { columns, types, rowsText, hasMore } = selected
      const named = columns.map((column, index) => [column, types[index] ?? ''])
      const rest = { hasMore, limit: limited.limit, offset: limited.offset, hogql }
      // The rows are JSON already, and may be many: they are not parsed to be printed again.
      const head = JSON.stringify({ columns, types: named }).slice(0, -1)
      return new JsonText(`${head},"results":${rowsText},${JSON.stringify(rest).slice(1)}`)
    },
  })
}
