// The description of the API as a client's author uses it: types are generated from it, a call of every operation is
// written by them and checked by the compiler, and what comes back has to be what was described.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import t from 'tap'
import type { TSchema } from 'typebox'
import { Check } from 'typebox/value'
import ts from 'typescript'
import { openWorld } from './world.ts'

interface DescribedOperation {
  readonly operationId: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: Sampled
  }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Sampled } } }
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: { readonly schema: TSchema } } }>
  >
}

/** The part of JSON Schema that samples are made by. */
interface Sampled {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Sampled[]
  readonly format?: string
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Sampled>>
  readonly required?: readonly string[]
}

interface Call {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly operation: DescribedOperation
}

type Reply = { readonly response: Response; readonly data?: unknown; readonly error?: unknown }

const formats: Readonly<Record<string, string>> = {
  email: 'ada@example.com',
  uuid: '00000000-0000-4000-8000-000000000001',
  uri: 'https://example.com/',
  'date-time': '2024-05-01T12:00:00Z',
}
/** Bodies that a sample by type alone would not make valid. */
const bodies: Readonly<Record<string, object>> = {
  domains_create: { domain: 'example.com' },
  domains_update: { domain: 'example.com' },
  feature_flags_create: { key: 'new-button' },
}

t.test('every operation can be called by generated types, and answers what it describes', async (t) => {
  const world = await openWorld(t)
  const text = (await world.get('/openapi.json', '')).text
  const calls = callsOf(JSON.parse(text).paths)
  t.ok(calls.length > 40)
  const made = await compile(t.testdir(), text, calls)
  t.same(made.complaints, [])

  const run = made.calls(`http://127.0.0.1:${world.server.port}`, { authorization: 'Bearer phx_owner' })
  const ids = new Map<string, string>()
  let successes = 0
  for (const call of calls) {
    // A key's allowance is not what this is about.
    world.clock.ms += 60_000
    const { response, data, error } = await run[call.name]!(ids.get(collectionOf(call.path)) ?? formats.uuid!)
    t.ok(response.status < 500 && response.status !== 405, `${call.name} ${response.status}`)
    const described = call.operation.responses[response.status]
    if (described === undefined) {
      t.match(error, { type: String, code: String, detail: String }, call.name)
      continue
    }
    successes++
    const schema = described.content?.['application/json']?.schema
    if (schema !== undefined) t.ok(Check(schema, data), `${call.name} answers what it describes`)
    const { id } = (data ?? {}) as { id?: unknown } // a resource, or something without one
    if (call.method === 'post' && id !== undefined) ids.set(call.path, String(id))
  }
  t.ok(successes > 25, `${successes} of ${calls.length} succeed`)
})

/** Makers first, then readers, then changes; what deletes comes last, the deepest first. */
function callsOf(paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>): Call[] {
  const order = ['post', 'get', 'put', 'patch', 'delete']
  const calls = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        name: operation.operationId,
        method,
        path,
        operation,
      })),
    )
  return calls.sort((a, b) => {
    const byMethod = order.indexOf(a.method) - order.indexOf(b.method)
    const byDepth = a.path.split('/').length - b.path.split('/').length
    return byMethod !== 0 ? byMethod : a.method === 'delete' ? -byDepth : byDepth
  })
}

/** The path that makes what `path` is about. */
function collectionOf(path: string): string {
  return path.replace(/\{(?:id|uuid)\}.*$/, '')
}

async function compile(folder: string, document: string, calls: readonly Call[]) {
  writeFileSync(join(folder, 'schema.ts'), astToString(await openapiTS(document)))
  writeFileSync(join(folder, 'calls.ts'), sourceOf(calls))
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: ['node'],
  }
  const program = ts.createProgram([join(folder, 'calls.ts')], options)
  program.emit()
  const complaints = ts
    .getPreEmitDiagnostics(program)
    .map((one) => ts.flattenDiagnosticMessageText(one.messageText, ' '))
  const loaded: unknown = await import(pathToFileURL(join(folder, 'calls.js')).href)
  // The module below exports it.
  const { makeCalls } = loaded as {
    makeCalls(
      baseUrl: string,
      headers: Record<string, string>,
    ): Record<string, (id: string) => Promise<Reply>>
  }
  return { complaints, calls: makeCalls }
}

function sourceOf(calls: readonly Call[]): string {
  const lines = calls.map(({ name, method, path, operation }) => {
    const inPath = operation.parameters.filter((one) => one.in === 'path')
    const inQuery = operation.parameters.filter((one) => one.in === 'query' && one.required)
    const pathText = inPath.map(({ name }) => `${name}: ${/^(?:id|uuid)$/.test(name) ? 'id' : "'@current'"}`)
    const queryText = inQuery.map(({ name, schema }) => `${name}: ${JSON.stringify(sampleOf(schema))}`)
    const schema = operation.requestBody?.content['application/json'].schema
    const body = schema === undefined ? '' : `, body: ${JSON.stringify(bodies[name] ?? sampleOf(schema))}`
    const params = [
      ...(pathText.length > 0 ? [`path: { ${pathText} }`] : []),
      ...(queryText.length > 0 ? [`query: { ${queryText} }`] : []),
    ]
    return `    ${name}: (id: string) => client.${method.toUpperCase()}('${path}', { params: { ${params} }${body} }),`
  })
  return `import createClient from 'openapi-fetch'
import type { paths } from './schema.js'
export function makeCalls(baseUrl: string, headers: Record<string, string>) {
  const client = createClient<paths>({ baseUrl, headers })
  return {
${lines.join('\n')}
  }
}
`
}

/** The least that the types allow. */
function sampleOf(schema: Sampled): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf?.[0] !== undefined) return sampleOf(schema.anyOf[0])
  switch (schema.type) {
    case 'string':
      return formats[schema.format ?? ''] ?? 'x'
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return []
    case 'object': {
      const fields = (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name] ?? {})])
      return Object.fromEntries(fields)
    }
    default:
      return schema.type === undefined ? [] : null
  }
}
