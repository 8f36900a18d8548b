import t from 'tap'
import { type TObject, type TSchema, Type } from 'typebox'
import { partialOf } from '../../src/api/input-schema.ts'
import { openApiDocument } from '../../src/api/openapi.ts'
import { type Operation, projectOperation, userOperation } from '../../src/api/operation.ts'
import { pageQuery } from '../../src/api/pagination.ts'

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

t.test('names the file that success may be', async (t) => {
  const document = JSON.parse(JSON.stringify(openApiDocument([{ ...events, fileType: 'image/png' }])))
  const { content } = document.paths['/api/projects/{project_id}/events/'].get.responses[200]
  t.strictSame(Object.keys(content), ['application/json', 'image/png'])
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

t.test(
  'tells what may be sent in vain, what is deprecated, and whether a body is needed at all',
  async (t) => {
    const describe = (body: TObject | null, more: Partial<Operation> = {}) => {
      const operation = userOperation({
        method: 'POST',
        path: '/api/organizations',
        operationId: 'things_act',
        summary: 'Do it',
        tag: 'things',
        query: Type.Object(pageQuery),
        body,
        status: 200,
        response: null,
        handle: () => null,
      })
      const document = JSON.parse(JSON.stringify(openApiDocument([{ ...operation, ...more }])))
      return document.paths['/api/organizations/'].post
    }
    const needed = Type.Object({ name: Type.String() })
    const optional = Type.Object({ size: Type.Optional(Type.Integer()) })
    t.equal(describe(null).requestBody, undefined)
    t.equal(describe(needed).requestBody.required, true)
    t.equal(describe(optional).requestBody.required, false)
    t.equal(
      describe(Type.Unsafe<unknown>({ items: needed }) as TSchema as TObject).requestBody.required,
      true,
    )
    const both = describe(Type.Object({ name: Type.Optional(Type.Boolean()) }), {
      ignores: partialOf(needed),
    })
    t.strictSame(both.requestBody, {
      required: false,
      content: {
        'application/json': { schema: { type: 'object', properties: { name: { type: 'boolean' } } } },
      },
    })
    t.strictSame(Object.keys(describe(null, { ignores: optional }).requestBody.content), ['application/json'])
    t.equal(describe(null).deprecated, undefined)
    t.equal(describe(null, { isDeprecated: true }).deprecated, true)
    t.strictSame(
      describe(null).parameters.map((one: { name: string; schema: { type: string } }) => [
        one.name,
        one.schema.type,
      ]),
      [
        ['limit', 'integer'],
        ['offset', 'integer'],
      ],
    )
  },
)
