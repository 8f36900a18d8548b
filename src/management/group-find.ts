// GET /api/projects/:project_id/groups/find/: the group of a type and a key.

import { JsonText, type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import { type GroupRow, groupColumns, groupSchema, groupText, groupTypeIndexSchema } from './group-rows.ts'
import { exactText } from './sql-values.ts'

const query = Type.Object({
  group_type_index: groupTypeIndexSchema,
  group_key: Type.Unsafe<string>({ description: 'Key of the group.' }),
})

export function groupFind(): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/groups/find',
    operationId: 'groups_find_retrieve',
    summary: 'Retrieve a group by its key',
    tag: 'groups',
    query,
    body: null,
    status: 200,
    response: groupSchema,
    handle: async ({ project, sql, query }) => {
      const { rows } = await sql.query<GroupRow>(
        `select ${groupColumns} from project_group where project_id = $1 and type_index = $2 and key = $3`,
        [project.id, query.group_type_index, exactText(query.group_key, 'group_key')],
      )
      const row = rows[0]
      if (row === undefined) throw new ServiceError('not_found')
      return new JsonText(groupText(row))
    },
  })
}
