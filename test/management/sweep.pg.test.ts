// Walks every operation of the management API, those that are added later included: whoever may not gets nothing and
// changes nothing, and no ill-formed body is stored.

import t, { type Test } from 'tap'
import { accessOf, levels, type Scope, tenantIn } from '../../src/api/access.ts'
import type { InputSchema } from '../../src/api/input-schema.ts'
import type { Operation } from '../../src/api/operation.ts'
import { managementOperations } from '../../src/management/routes.ts'
import { addKey, ids, openWorld, type World } from '../api/world.ts'
import { faultsOf, fill, hasInnerId, sample, snapshot } from './sweep.ts'

const objects = [
  'organization',
  'organization_member',
  'project',
  'batch_export',
  'query',
  'person',
  'group',
  'feature_flag',
  'cohort',
  'early_access_feature',
  'user',
]
const nobodysId = '00000000-0000-4000-8000-0000000000ee'
/** What a schema does not say of a field. */
const texts = { domain: 'sample.example', destination: { type: 'S3', config: {} }, interval: 'hour' }

const levelNames = {
  [levels.member]: 'member',
  [levels.administrator]: 'administrator',
  [levels.owner]: 'owner',
}

function isPublic({ method, path }: Operation): boolean {
  return accessOf(method, path).scope === 'public'
}

async function ask(world: World, operation: Operation, path: string, key: string, body?: unknown) {
  const { method } = operation
  if (method === 'GET' || method === 'DELETE') return await world.get(path, key, method)
  const sent = body ?? sample((operation.body ?? {}) as InputSchema, texts) // a TypeBox schema is a JSON Schema
  return await world.send(method, path, sent, key)
}

/** A fresh allowance for each operation. */
function laterBy(world: World, ms: number): void {
  world.clock.ms += ms
}

t.test('a key that may not gets the right refusal everywhere, and changes nothing', async (t) => {
  const world = await openWorld(t)
  const { postgres } = world
  await addKey(postgres, 'phx_ended', 3, { expiresAt: '2024-05-01T00:00:00Z' })
  await addKey(postgres, 'phx_revoked', 3)
  await postgres.query(`update personal_api_key set revoked_at = now() where id = 'phx_revoked'`)
  await addKey(postgres, 'phx_nothing', 3, { scopes: [] })
  await addKey(postgres, 'phx_their_organization', 3, { organizations: [ids.theirs] })
  await addKey(postgres, 'phx_other_project', 3, { projects: [ids.ourOtherProject] })
  await postgres.query('update project set access_control = true where id = 2')
  for (const object of objects) {
    await addKey(postgres, `phx_only_read_${object}`, 3, { scopes: [`${object}:read`] })
    const others = objects.filter((other) => other !== object)
    await addKey(postgres, `phx_not_${object}`, 3, { scopes: others.map((other) => `${other}:write`) })
  }
  const before = await snapshot(postgres)
  const operations = managementOperations(world.management).filter((operation) => !isPublic(operation))
  t.ok(operations.length > 60, `${operations.length} operations`)
  for (const operation of operations) {
    laterBy(world, 61_000)
    const { method, path } = operation
    const { scope, level } = accessOf(method, path)
    const tenant = tenantIn(path)
    const ours = fill(operation, ids.ours, ids.ourProject, nobodysId)
    const refused = async (key: string, at: string, ...statuses: number[]): Promise<void> => {
      const { status, text } = await ask(world, operation, at, key)
      if (!statuses.includes(status)) t.fail(`${method} ${path} as ${key || 'nobody'}: ${status} ${text}`)
    }
    await refused('', ours, 401)
    for (const key of ['phx_unknown', 'phx_ended', 'phx_revoked', 'phc_1']) await refused(key, ours, 401)
    if (scope !== 'any_key') {
      const object = (scope as Scope).replace(/:.*/, '') // neither public nor any_key
      await refused('phx_nothing', ours, 403)
      await refused(`phx_not_${object}`, ours, 403)
      if (scope.endsWith(':write')) await refused(`phx_only_read_${object}`, ours, 403)
    }
    if (tenant === null) continue
    await refused('phx_their_organization', ours, 403)
    await refused('phx_other_project', ours, 403)
    for (const lower of [levels.member, levels.administrator]) {
      if (level !== null && lower < level) await refused(`phx_${levelNames[lower]}`, ours, 403)
    }
    // Where no path names the project, the query may, by its key.
    const byToken = tenant.param === null ? '?token=phc_3' : ''
    const theirs = fill(operation, ids.theirs, ids.theirProject, nobodysId) + byToken
    const isHidden = tenant.kind === 'project' || tenant.isItself
    for (const name of ['member', 'administrator', 'owner'])
      await refused(`phx_${name}`, theirs, ...(byToken ? [401, 403, 404] : [isHidden ? 404 : 403]))
    if (tenant.kind !== 'project') continue
    const isAsNone = tenant.param !== null
    const closed =
      fill(operation, ids.ours, ids.ourOtherProject, nobodysId) + (isAsNone ? '' : '?token=phc_2')
    await refused('phx_member', closed, isAsNone ? 404 : 403)
  }
  t.strictSame(await snapshot(postgres), before)
})

t.test('nothing of one organization is seen or changed from within another', async (t) => {
  const world = await openWorld(t)
  const { postgres } = world
  // Whatever can be made, their owner makes.
  const made = await makeAll(world, ids.theirs, ids.theirProject, 'phx_stranger')
  t.ok(made.length >= 4, `made ${made.join(', ')}`)
  const { rows } = await postgres.query<{ id: string }>(`select uuid::text as id from app_user where id = 4`)
  const theirIds = [ids.theirs, String(ids.theirProject), rows[0]?.id ?? '', ...(await idsOfTenant(world))]
  const marks = [ids.theirs, 'phc_3', 'stranger@spate.example', ...theirIds.filter((id) => id.length > 30)]
  await checkWall(t, world, { key: 'phx_owner', theirIds, marks })
})

t.test('nothing of a private project is seen or changed by a member without access', async (t) => {
  const world = await openWorld(t)
  const { postgres } = world
  await postgres.query('update project set access_control = true where id = 2')
  await world.send('PATCH', '/api/projects/2/', { name: 'Nobody else sees this' })
  const destination = { type: 'NoOp', config: {} }
  for (const [resource, body] of [
    ['feature_flags', { key: 'theirs' }],
    ['cohorts', { name: 'theirs', is_static: true }],
    ['early_access_feature', { name: 'their feature', stage: 'draft' }],
    ['batch_exports', { name: 'theirs', interval: 'hour', destination }],
  ] as const) {
    const { status, text } = await world.send('POST', `/api/projects/2/${resource}/`, body)
    t.equal(status, 201, `${resource} ${text}`)
  }
  const { rows } = await postgres.query<{ id: string }>(
    `select uuid::text as id from project where id = 2
     union all select id::text from organization_activity where project_id = 2
     union all select id::text from feature_flag where project_id = 2
     union all select id::text from cohort where project_id = 2
     union all select id::text from early_access_feature where project_id = 2
     union all select id::text from batch_export where project_id = 2`,
  )
  t.ok(rows.length >= 10, `${rows.length} rows`)
  // Project 1 is open to who asks.
  const theirIds = ['2', ...rows.map((row) => row.id).filter((id) => id !== '1')]
  const marks = ['phc_2', 'Nobody else sees this', ...theirIds.filter((id) => id.length > 30)]
  await checkWall(t, world, { key: 'phx_member', theirIds, marks })
})

/** Makes whatever can be made in the organization and its project. */
async function makeAll(world: World, organization: string, project: number, key: string): Promise<string[]> {
  const made: string[] = []
  for (const operation of managementOperations(world.management)) {
    if (operation.method !== 'POST' || isPublic(operation) || tenantIn(operation.path) === null) continue
    laterBy(world, 61_000)
    const path = fill(operation, organization, project, nobodysId)
    const { status } = await ask(world, operation, path, key)
    if (status === 201) made.push(operation.path)
  }
  return made
}

interface Wall {
  /** Of who asks, in our organization and its first project. */
  readonly key: string
  /** What is beyond the wall, and texts that would show it. */
  readonly theirIds: readonly string[]
  readonly marks: readonly string[]
}

async function checkWall(t: Test, world: World, { key, theirIds, marks }: Wall): Promise<void> {
  const operations = managementOperations(world.management).filter((operation) => !isPublic(operation))
  const before = await snapshot(world.postgres)
  for (const operation of operations) {
    const { method } = operation
    const isSafe = method === 'GET'
    if (!isSafe && !hasInnerId(operation)) continue
    for (const id of hasInnerId(operation) ? theirIds : [nobodysId]) {
      laterBy(world, 10_000)
      const ours = fill(operation, ids.ours, ids.ourProject, id)
      const { status, text } = await ask(world, operation, ours, key)
      const shown = marks.filter((mark) => text.includes(mark) && !ours.includes(mark))
      if (shown.length > 0) t.fail(`${method} ${ours} shows ${shown}: ${text.slice(0, 300)}`)
      if (status >= 500) t.fail(`${method} ${ours}: ${status} ${text}`)
      if (hasInnerId(operation) && status < 400) {
        // An id that both have, such as a small number, is theirs only by chance.
        const isOwnNumber = /^\d+$/.test(id)
        if (!isOwnNumber) t.fail(`${method} ${ours}: ${status} ${text.slice(0, 300)}`)
      }
    }
  }
  t.strictSame(await snapshot(world.postgres), before)
}

/** Every id of a row that belongs to their organization or project. */
async function idsOfTenant({ postgres }: World): Promise<string[]> {
  const { rows } = await postgres.query<{ name: string; tenant: string }>(
    `select table_name as name, min(column_name) as tenant from information_schema.columns
     where table_schema = 'public' and column_name in ('organization_id', 'project_id')
       and exists (select from information_schema.columns id
         where id.table_schema = 'public' and id.table_name = columns.table_name and id.column_name = 'id')
     group by 1 order by 1`,
  )
  const found: string[] = []
  for (const { name, tenant } of rows) {
    const value = tenant === 'organization_id' ? ids.theirs : ids.theirProject
    const { rows: own } = await postgres.query<{ id: string }>(
      `select id::text as id from ${name} where ${tenant} = $1`,
      [value],
    )
    found.push(...own.map((row) => row.id))
  }
  return [...new Set(found)].filter((id) => id !== '1' && id !== '2')
}

t.test('no field takes what does not fit, and nothing of such a body is stored', async (t) => {
  const world = await openWorld(t)
  const operations = managementOperations(world.management).filter((operation) => operation.body !== null)
  const before = await snapshot(world.postgres)
  let count = 0
  const walked = new Set<unknown>()
  for (const operation of operations) {
    const schema = operation.body as InputSchema // not null, and a TypeBox schema is a JSON Schema
    const path = fill(operation, ids.ours, ids.ourProject, nobodysId)
    // Of a schema that was walked already, one fault of each field shows that this operation reads by it.
    const faults = faultsOf(schema, texts, operation.method === 'PATCH').filter(
      ({ attr }, index, all) => !walked.has(schema) || all[index - 1]?.attr !== attr,
    )
    walked.add(schema)
    for (const { name, body, code, attr } of faults) {
      laterBy(world, 1_000)
      const { status, text } = await ask(world, operation, path, 'phx_owner', body)
      count++
      const isRight = status === 400 && text.includes(`"code":"${code}"`) && text.includes(`"attr":"${attr}"`)
      if (!isRight)
        t.fail(`${operation.method} ${operation.path} ${name}: ${status} ${text}, not ${code} ${attr}`)
    }
    laterBy(world, 1_000)
    const hostile = '{"__proto__":{"level":15,"scopes":["*"]},"constructor":{"prototype":{"x":1}}}'
    const { status, text } = await ask(
      world,
      operation,
      path.replace(ids.ours, ids.theirs),
      'phx_owner',
      hostile,
    )
    if (status >= 500) t.fail(`${operation.method} ${operation.path} __proto__: ${status} ${text}`)
  }
  t.ok(count > 800, `${count} bodies`)
  t.equal(Reflect.get({}, 'level') ?? Reflect.get({}, 'x'), undefined)
  // The hostile bodies hold nothing that may be written: a PATCH with them changes nothing but its moment.
  const after = await snapshot(world.postgres)
  for (const table of ['app_user', 'project']) delete after[table]
  for (const [table, hash] of Object.entries(after)) t.equal(hash, before[table], table)
})
