import t from 'tap'
import { Type } from 'typebox'
import { openApiDocument } from '../../src/api/openapi.ts'
import { type Operation, projectOperation, userOperation } from '../../src/api/operation.ts'

const events: Operation = projectOperation({
  method: 'GET',
  path: '/api/projects/:project_id/events',
  operationId: 'events_list',
  summary: 'List events',
  tag: 'events',
  query: Type.Object({ event: Type.Optional(Type.String()), limit: Type.Integer() }),
  body: null,
  status: 200,
  response: Type.Object({ next: Type.Union([Type.String(), Type.Null()]) }),
  handle: () => ({ next: null }),
})

t.test('describes an operation', async (t) => {
  const document = JSON.parse(JSON.stringify(openApiDocument([events])))
  t.equal(document.openapi, '3.1.0')
  t.strictSame(document.paths['/api/projects/{project_id}/events/'].get, {
    operationId: 'events_list',
    summary: 'List events',
    tags: ['events'],
    parameters: [
      { name: 'project_id', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'event', in: 'query', required: false, schema: { type: 'string' } },
      { name: 'limit', in: 'query', required: true, schema: { type: 'integer' } },
    ],
    responses: {
      200: {
        description: 'Success',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['next'],
              properties: { next: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
            },
          },
        },
      },
      default: {
        description: 'Error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
    security: [{ personalApiKey: [] }],
    'x-required-scope': 'query:read',
  })
})

t.test('has unique operation ids, declared path parameters and references that lead somewhere', async (t) => {
  const document = JSON.parse(JSON.stringify(openApiDocument([events])))
  const operationIds: string[] = []
  for (const [path, methods] of Object.entries<Record<string, Described>>(document.paths)) {
    for (const operation of Object.values(methods)) {
      operationIds.push(operation.operationId)
      const declared = operation.parameters.filter((one) => one.in === 'path').map((one) => one.name)
      t.strictSame(
        declared,
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        path,
      )
      t.ok(Object.keys(operation.responses).length > 1)
    }
  }
  t.equal(new Set(operationIds).size, operationIds.length)
  for (const [, reference = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = reference.split('/').reduce((value, key) => value?.[key], document)
    t.ok(target, reference)
  }
  t.equal(operationIds.filter((id) => id.startsWith('capture')).length, 6)
})

interface Described {
  readonly operationId: string
  readonly parameters: readonly { readonly in: string; readonly name: string }[]
  readonly responses: object
}

t.test('asks a caller for no field that has a default', async (t) => {
  const body = Type.Object({ name: Type.String(), size: Type.Integer({ default: 3 }) })
  const create = userOperation({
    method: 'POST',
    path: '/api/organizations',
    operationId: 'things_create',
    summary: 'Make a thing',
    tag: 'things',
    query: null,
    body,
    status: 201,
    response: null,
    handle: () => null,
  })
  const document = JSON.parse(JSON.stringify(openApiDocument([create])))
  const { schema } = document.paths['/api/organizations/'].post.requestBody.content['application/json']
  t.strictSame(schema.required, ['name'])
})
