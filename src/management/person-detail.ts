// GET /api/projects/:project_id/persons/:uuid/: one person.

import { JsonText, type Operation, projectOperation } from '../api/operation.ts'
import { ServiceError } from '../errors.ts'
import { type PersonRow, personSchema, personText, selectPersons } from './person-rows.ts'
import { SqlValues } from './sql-values.ts'

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function personDetail(): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/persons/:uuid',
    operationId: 'persons_retrieve',
    summary: 'Retrieve a person',
    tag: 'persons',
    query: null,
    body: null,
    status: 200,
    response: personSchema,
    handle: async ({ project, sql, params: { uuid = '' } }) => {
      if (!uuidPattern.test(uuid)) throw new ServiceError('not_found')
      const values = new SqlValues()
      const person = `select * from person
        where project_id = ${values.add(project.id, 'integer')} and uuid = ${values.add(uuid, 'uuid')}`
      const { rows } = await sql.query<PersonRow>(selectPersons(person, project.id, values), values.list)
      const row = rows[0]
      if (row === undefined) throw new ServiceError('not_found')
      return new JsonText(personText(row))
    },
  })
}
