import t from 'tap'
import { Type } from 'typebox'
import { type Admitted, organizationOperation, publicOperation } from '../../src/api/operation.ts'
import { requestOf } from '../support/http-request.ts'

const admitted: Admitted = {
  request: requestOf({
    method: 'POST',
    path: '/api/organizations/a/things',
    params: { organization_id: 'a' },
  }),
  url: '',
  address: '192.0.2.1',
  params: { organization_id: 'a' },
  query: { name: 'n' },
  body: { size: 7 },
  principal: null,
  sql: null,
  organization: { id: 'a', level: 8 },
  project: null,
}

const description = {
  method: 'POST',
  path: '/api/organizations/:organization_id/things',
  operationId: 'things_create',
  summary: 'Make a thing',
  tag: 'things',
  query: Type.Object({ name: Type.String() }),
  body: Type.Object({ size: Type.Integer() }),
  status: 201,
  response: Type.Object({}),
} as const

t.test('a handler gets what its schemas and its path promise', async (t) => {
  const operation = organizationOperation({
    ...description,
    handle: ({ organization, query, body }) =>
      `${organization.id} ${organization.level} ${query.name} ${body.size + 1}`,
  })
  t.equal(await operation.run(admitted), 'a 8 n 8')
})

t.test('an operation keeps its description', async (t) => {
  const operation = publicOperation({ ...description, handle: () => null })
  t.match(operation, { method: 'POST', operationId: 'things_create', status: 201 })
  t.equal(operation.body, description.body)
})
