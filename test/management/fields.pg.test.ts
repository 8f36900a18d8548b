// Walks every field that a body may hold, those that are added later included: the sweep of faults comes by it, and
// what is written is what is read.

import t, { type Test } from 'tap'
import type { InputSchema } from '../../src/api/input-schema.ts'
import { openApiDocument } from '../../src/api/openapi.ts'
import type { Operation } from '../../src/api/operation.ts'
import { managementOperations } from '../../src/management/routes.ts'
import { ids, jsonOf, openWorld, type World } from '../api/world.ts'
import { openExportWorld } from './batch-export-world.ts'
import { faultsOf, fieldsOf, fill, sampleAll } from './sweep.ts'

/** Of a TypeBox schema, which is a JSON Schema. */
function bodyOf(operation: Operation): InputSchema {
  return (operation.body ?? {}) as InputSchema
}

t.test('the sweep of faults comes by every field that the OpenAPI document names', async (t) => {
  const { management } = await openWorld(t)
  const operations = managementOperations(management)
  // The document as its reader has it.
  const document = JSON.parse(JSON.stringify(openApiDocument(operations)))
  let count = 0
  for (const operation of operations) {
    const path = `${operation.path.replaceAll(/:(\w+)/g, '{$1}')}/`
    const described = document.paths[path]?.[operation.method.toLowerCase()]
    const schema: InputSchema = described?.requestBody?.content['application/json'].schema ?? {}
    const ignored = Object.keys(operation.ignores?.properties ?? {})
    const named = fieldsOf(schema).filter((field) => !ignored.includes(field.replace(/__.*/, '')))
    const reached = new Set(faultsOf(bodyOf(operation), {}, true).map(({ attr }) => attr))
    const missed = named.filter((field) => !reached.has(field))
    count += named.length
    t.same(missed, unfaulted[operation.operationId] ?? [], `${operation.method} ${operation.path}`)
  }
  t.ok(count > 300, `${count} fields`)
})

/** Fields whose handlers have words of their own for what they do not take. */
const unfaulted: Readonly<Record<string, readonly string[]>> = {
  batch_exports_backfills_create: ['start_at', 'end_at'],
  project_batch_exports_backfills_create: ['start_at', 'end_at'],
}

/** What a schema does not say of a field: values that its handler takes, first and then. */
const given: Readonly<Record<string, readonly [unknown, unknown]>> = {
  domain: ['first.example', 'first.example'],
  timezone: ['Europe/Berlin', 'US/Pacific'],
  session_recording_sample_rate: ['0.50', '1.00'],
  session_recording_linked_flag: [
    { id: 1, key: 'a' },
    { id: 2, key: 'b', variant: 'c' },
  ],
  session_recording_network_payload_capture_config: [{ recordHeaders: true }, { recordBody: false }],
  session_replay_config: [{ record_canvas: true }, { record_canvas: false }],
  destination: [
    { type: 'NoOp', config: { arg: 'a' } },
    { type: 'HTTP', config: { url: 'https://192.0.2.7/batch', token: 'phc_a' } },
  ],
  // The only model that goes with a query of one's own.
  model: ['events', 'events'],
  hogql_query: ['select event as event from events', 'select distinct_id as id from events'],
  filters: [[{ key: 'plan', value: 'pro' }], [{ key: 'plan', operator: 'is_set', type: 'event' }]],
  scopes: [['project:read'], ['*']],
  scoped_organizations: [[ids.ours], []],
  scoped_teams: [[], [1]],
  private_project_access: [[{ id: 1, level: 8 }], null],
}

interface Resource {
  /** Template of what makes one; what changes it is below. */
  readonly post: string
  readonly patch: string | null
  /** Fields that are taken and not shown, or shown as something else. */
  readonly unseen?: readonly string[]
  /** What it needs of the other rooms. */
  readonly open?: (t: Test) => Promise<World>
}

const organization = '/api/organizations/:organization_id'
/** Set once the domain is proved, and until it has another name. */
const proved = ['jit_provisioning_enabled', 'sso_enforcement']
const resources: readonly Resource[] = [
  { post: '/api/organizations', patch: '/api/organizations/:id' },
  { post: `${organization}/projects`, patch: '/api/projects/:id' },
  { post: `${organization}/domains`, patch: `${organization}/domains/:id`, unseen: proved },
  { post: `${organization}/invites`, patch: null },
  {
    post: `${organization}/batch_exports`,
    patch: `${organization}/batch_exports/:id`,
    unseen: ['destination'],
    open: openExportWorld,
  },
  { post: '/api/personal_api_keys', patch: '/api/personal_api_keys/:id' },
]

for (const { post, patch, unseen = [], open = openWorld } of resources) {
  t.test(`every field of ${post} is read as it was written`, async (t) => {
    const world = await open(t)
    const operations = managementOperations(world.management)
    const find = (method: string, path: string): Operation => {
      const found = operations.find((one) => one.method === method && one.path === path)
      if (found === undefined) throw new Error(`no ${method} ${path}`)
      return found
    }
    const written = (operation: Operation, variant: 0 | 1) =>
      sampleAll(
        bodyOf(operation),
        Object.fromEntries(Object.entries(given).map(([k, v]) => [k, v[variant]])),
        variant,
      )
    const check = (operation: Operation, sent: object, answer: Record<string, unknown>): void => {
      const shown = Object.keys((operation.response as InputSchema | null)?.properties ?? {})
      const fields = Object.entries(sent).filter(
        ([field]) => shown.includes(field) && !unseen.includes(field),
      )
      t.ok(fields.length > 0, `${fields.length} fields of ${operation.operationId}`)
      for (const [field, value] of fields) t.same(answer[field], value, `${operation.operationId} ${field}`)
    }
    const create = find('POST', post)
    const first = written(create, 0)
    delete first.token
    delete first.api_key
    const made = await world.send('POST', fill(create, ids.ours, ids.ourProject, ''), first)
    t.equal(made.status, 201, made.text)
    const { id } = jsonOf(made)
    check(create, first, jsonOf(made))
    if (patch === null) return
    await world.postgres.query('update organization_domain set verified_at = now()')
    const at = `${patch.replace(':organization_id', ids.ours).replace(':id', id)}/`
    const change = find('PATCH', patch)
    const second = written(change, 1)
    const changed = await world.send('PATCH', at, second)
    t.equal(changed.status, 200, changed.text)
    check(change, second, jsonOf(changed))
    t.same(jsonOf(await world.get(at, 'phx_owner')), jsonOf(changed))
  })
}
