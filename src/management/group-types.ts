// GET /api/projects/:project_id/groups_types/: the kinds of groups of a project, by their index.

import { type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'

const readableName = Type.Union([Type.String(), Type.Null()])

const groupTypeSchema = Type.Object({
  group_type: Type.String(),
  group_type_index: Type.Integer(),
  name_singular: readableName,
  name_plural: readableName,
})

export function groupTypesList(): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/groups_types',
    operationId: 'groups_types_list',
    summary: 'List group types',
    tag: 'groups',
    query: null,
    body: null,
    status: 200,
    response: Type.Array(groupTypeSchema),
    handle: async ({ project, sql }) => {
      const { rows } = await sql.query<object>(
        `select name as group_type, type_index as group_type_index, name_singular, name_plural
         from group_type where project_id = $1 order by type_index`,
        [project.id],
      )
      return rows
    },
  })
}
