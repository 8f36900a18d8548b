// The OpenAPI 3.1 document: every operation from its own description, and the capture endpoints, which read their
// bodies byte by byte and so are described here by hand.

import type { TObject, TSchema } from 'typebox'
import { capturePaths } from '../capture/capture-task.ts'
import { errorCodes } from '../errors.ts'
import { accessOf } from './access.ts'
import { JsonText, type Operation, publicOperation } from './operation.ts'
import { Type } from './schema.ts'

const errorSchema = Type.Object({
  type: Type.String(),
  code: Type.String({ description: `One of ${errorCodes.join(', ')}, or \`error\`.` }),
  detail: Type.String(),
  attr: Type.Union([Type.String(), Type.Null()], {
    description: 'The field at fault, nested names joined by `__`.',
  }),
})

const properties = Type.Optional(Type.Object({}, { additionalProperties: true }))
const timestamp = Type.Optional(Type.String({ description: 'ISO 8601; the time of arrival when absent.' }))
const eventFields = { event: Type.String(), distinct_id: Type.Optional(Type.String()), properties, timestamp }
const apiKey = Type.String({ description: 'Project API key, also accepted as `token`.' })

const captureBody = Type.Union([
  Type.Object({ api_key: apiKey, ...eventFields }, { title: 'One event' }),
  Type.Object(
    {
      api_key: apiKey,
      batch: Type.Array(Type.Object(eventFields)),
      historical_migration: Type.Optional(Type.Boolean()),
      sent_at: Type.Optional(Type.String()),
    },
    { title: 'A batch' },
  ),
])

/** The operations that serve the document of `operations`, themselves included. */
export function openApiOperations(operations: readonly Operation[]): Operation[] {
  const serve = (path: string, operationId: string): Operation =>
    publicOperation({
      method: 'GET',
      path,
      operationId,
      summary: 'This document',
      tag: 'schema',
      query: null,
      body: null,
      status: 200,
      response: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
      handle: () => text,
    })
  const served = [serve('/api/schema', 'schema_retrieve'), serve('/openapi.json', 'openapi_retrieve')]
  const text = new JsonText(JSON.stringify(openApiDocument([...operations, ...served])))
  return served
}

export function openApiDocument(operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const path = templateOf(operation.path)
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) }
  }
  for (const path of capturePaths) paths[`${path}/`] = { post: describeCapture(path) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Spate',
      version: '1',
      description: 'Capture events and manage the organizations they belong to.',
    },
    paths,
    components: {
      securitySchemes: {
        personalApiKey: { type: 'http', scheme: 'bearer', description: 'A personal API key, `phx_…`.' },
      },
      schemas: { Error: errorSchema },
    },
  }
}

/** `/api/things/:thing_id` as `/api/things/{thing_id}/`. */
function templateOf(path: string): string {
  const template = path.replaceAll(/:(\w+)/g, '{$1}')
  return template.endsWith('.json') ? template : `${template}/`
}

function describe(operation: Operation): object {
  const { method, path, operationId, summary, tag, query, status } = operation
  const { scope } = accessOf(method, path)
  const isPublic = scope === 'public'
  return {
    operationId,
    summary,
    tags: [tag],
    ...(operation.isDeprecated === true ? { deprecated: true } : {}),
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...requestBody(operation),
    responses: {
      [status]: { description: 'Success', ...successContent(operation) },
      default: { description: 'Error', content: json(Type.Unsafe({ $ref: '#/components/schemas/Error' })) },
    },
    security: isPublic ? [] : [{ personalApiKey: [] }],
    ...(isPublic || scope === 'any_key' ? {} : { 'x-required-scope': scope }),
  }
}

function successContent({ response, fileType }: Operation): object {
  if (response === null) return {}
  return { content: { ...json(response), ...(fileType === undefined ? {} : { [fileType]: {} }) } }
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(query: Operation['query']): object[] {
  if (query === null) return []
  const required: readonly string[] = query.required ?? []
  return Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function requestBody({ body, ignores }: Operation): object {
  const read = body === null ? null : requestSchema(body)
  if (ignores === undefined) {
    return read === null ? {} : { requestBody: { required: isNeeded(read), content: json(read) } }
  }
  const fields = read as (TSchema & Partial<TObject>) | null // of an object, where one is read beside ignored fields
  const schema = { ...ignores, properties: { ...ignores.properties, ...fields?.properties } }
  return { requestBody: { required: false, content: json(schema) } }
}

/** An empty body is an object without fields. */
function isNeeded(body: TSchema): boolean {
  const { type, required = [] } = body as TSchema & { type?: string; required?: readonly string[] } // JSON Schema
  return type !== 'object' || required.length > 0
}

/** What a caller has to send: a field with a default may be left out, though a handler always gets it. */
function requestSchema(body: TSchema): TSchema {
  const { properties, required } = body as TSchema & Partial<TObject> // of an object only
  if (properties === undefined || required === undefined) return body
  const missing = (required as readonly string[]).filter((name) => !('default' in (properties[name] ?? {})))
  return { ...body, required: missing } as TSchema // as before, with fewer names
}

function json(schema: TSchema): object {
  return { 'application/json': { schema } }
}

function describeCapture(path: string): object {
  const text = (description: string): object => ({
    description,
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  return {
    operationId: `capture${path.replaceAll('/', '_')}`,
    summary: 'Capture one event or a batch; answered when it is durable',
    tags: ['capture'],
    parameters: [
      {
        name: 'compression',
        in: 'query',
        required: false,
        schema: { enum: ['gzip', 'gzip-js', 'lz64', 'base64'] },
      },
    ],
    requestBody: { required: true, content: json(captureBody) },
    responses: {
      200: { description: 'Captured', content: json(Type.Object({ status: Type.Literal('Ok') })) },
      400: text('The body cannot be read'),
      401: text('The project API key is missing, ill-formed or unknown'),
      413: text('The body is too large'),
      503: text('Not now; send it again after Retry-After seconds'),
    },
    security: [],
  }
}
