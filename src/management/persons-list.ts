// GET /api/projects/:project_id/persons/: a project's persons, newest first.

import { countedRows } from '../api/counted-page.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { boundedEnvelope, boundedRows } from './bounded-page.ts'
import { readPropertyFilters } from './event-filter.ts'
import { personCondition } from './person-filter.ts'
import { type PersonRow, personSchema, personText, selectPersons } from './person-rows.ts'
import { containsText, exactText, SqlValues } from './sql-values.ts'

const query = Type.Object({
  distinct_id: Type.Optional(Type.Unsafe<string>({ description: 'Only the person of this distinct_id.' })),
  search: Type.Optional(
    Type.String({ description: 'Only persons with this in their email, name or a distinct_id.' }),
  ),
  properties: Type.Optional(
    Type.String({ description: 'JSON array of {key, value, operator, type: "person"}.' }),
  ),
  ...pageQuery,
})

interface PersonFilter {
  readonly distinct_id?: string
  readonly search?: string
  readonly properties?: string
}

const order = 'created_at desc, uuid desc'

export function personsList(): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/persons',
    operationId: 'persons_list',
    summary: 'List persons, newest first',
    tag: 'persons',
    query,
    body: null,
    status: 200,
    response: envelopeOf(personSchema),
    handle: async ({ project, sql, query, request, url }) => {
      const page = pageOf(request.query)
      const values = new SqlValues()
      const select = `select * from person where ${condition(project.id, query, values)}`
      const parts = boundedRows({ select, key: ['uuid'], order }, page, values)
      const listed = selectPersons(parts.listed, project.id, values)
      const found = await countedRows<PersonRow>(sql, { ...parts, listed, order, values: values.list })
      return boundedEnvelope(url, page, found.count, found.rows.map(personText))
    },
  })
}

/** Errors: invalid_input for a filter that cannot be read. */
function condition(projectId: number, filter: PersonFilter, values: SqlValues): string {
  const project = values.add(projectId, 'integer')
  const conditions = [`project_id = ${project}`]
  const { distinct_id, search, properties } = filter
  if (distinct_id) {
    const wanted = values.add(exactText(distinct_id, 'distinct_id'), 'text')
    conditions.push(`uuid in (select person_uuid from person_distinct_id
      where project_id = ${project} and distinct_id = ${wanted})`)
  }
  if (search) {
    conditions.push(`(${containsText(`properties ->> 'email'`, search, values)}
      or ${containsText(`properties ->> 'name'`, search, values)}
      or uuid in (select person_uuid from person_distinct_id
        where project_id = ${project} and ${containsText('distinct_id', search, values)}))`)
  }
  if (properties) {
    for (const one of readPropertyFilters(properties, 'person')) conditions.push(personCondition(one, values))
  }
  return conditions.join(' and ')
}
