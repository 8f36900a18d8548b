// GET /api/projects/:project_id/groups/: a project's groups of one kind, newest first.

import { countedRows } from '../api/counted-page.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
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
      const values = new SqlValues()
      const select = `select * from project_group where ${condition(project.id, query, values)}`
      const parts = boundedRows({ select, key: ['key'], order }, page, values)
      const listed = `select ${groupColumns} from (${parts.listed}) bounded`
      const found = await countedRows<GroupRow>(sql, { ...parts, listed, order, values: values.list })
      return boundedEnvelope(url, page, found.count, found.rows.map(groupText))
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
