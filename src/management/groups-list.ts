// GET /api/projects/:project_id/groups/: a project's groups of one kind, newest first.

import { Type } from 'typebox'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { boundedEnvelope, boundedRows } from './bounded-page.ts'
import { type GroupRow, groupColumns, groupSchema, groupText, groupTypeIndexSchema } from './group-rows.ts'
import { containsText, SqlValues } from './sql-values.ts'

const query = Type.Object({
  group_type_index: groupTypeIndexSchema,
  search: Type.Optional(Type.String({ description: 'Only groups with this in their key or name.' })),
  ...pageQuery,
})

interface GroupFilter {
  readonly group_type_index: number
  readonly search?: string
}

const order = 'created_at desc, key desc'

export function groupsList(): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/groups',
    operationId: 'groups_list',
    summary: 'List groups of a type, newest first',
    tag: 'groups',
    query,
    body: null,
    status: 200,
    response: envelopeOf(groupSchema),
    handle: async ({ project, sql, query, request, url }) => {
      const page = pageOf(request.query)
      const counted = new SqlValues()
      const countSql = `select count(*) from project_group where ${condition(project.id, query, counted)}`
      const listed = new SqlValues()
      const pageSql = `select * from project_group where ${condition(project.id, query, listed)}
        order by ${order} limit ${listed.add(page.limit, 'bigint')} offset ${listed.add(page.offset, 'bigint')}`
      const listSql = `select ${groupColumns} from (${boundedRows(pageSql, order)}) bounded order by ${order}`
      const [count, list] = await Promise.all([
        sql.query<{ count: number }>(countSql, counted.list),
        sql.query<GroupRow>(listSql, listed.list),
      ])
      return boundedEnvelope(url, page, count.rows[0]?.count ?? 0, list.rows.map(groupText))
    },
  })
}

function condition(projectId: number, filter: GroupFilter, values: SqlValues): string {
  const conditions = [
    `project_id = ${values.add(projectId, 'integer')}`,
    `type_index = ${values.add(filter.group_type_index, 'smallint')}`,
  ]
  const { search } = filter
  if (search) {
    const inName = containsText(`properties ->> 'name'`, search, values)
    conditions.push(`(${containsText('key', search, values)} or ${inName})`)
  }
  return conditions.join(' and ')
}
