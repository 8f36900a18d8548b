import t from 'tap'
import { type Answer, addKey, jsonOf, openWorld, type World } from '../api/world.ts'
import { until } from '../support/until.ts'
import { addGroupType } from './identities.ts'

const flagsPath = '/api/projects/1/feature_flags/'
const paths = [
  '/flags/definitions',
  '/api/feature_flag/local_evaluation',
  '/api/feature_flag/local_evaluation/',
]
const depends = (id: number) => ({
  type: 'flag',
  key: String(id),
  value: true,
  operator: 'flag_evaluates_to',
})
const pro = { key: 'plan', value: 'pro', type: 'person', operator: 'exact' }

async function define(world: World, path: string, body: object): Promise<{ id: number }> {
  const reply = await world.send('POST', `/api/projects/1/${path}/`, body)
  if (reply.status !== 201) throw new Error(reply.text)
  return jsonOf(reply)
}

async function seen(world: World, count: number): Promise<void> {
  await until(() => world.definitions.of(1)?.flags.length === count)
}

function ask(world: World, path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`http://127.0.0.1:${world.server.port}${path}`, { headers })
}

function codeOf(answer: Answer): unknown[] {
  return [answer.status, jsonOf(answer).code]
}

t.test('sends all flags but the deleted and remote ones, as SDKs evaluate them', async (t) => {
  const world = await openWorld(t)
  await addGroupType(world.postgres, 1, 0, 'company')
  const cohort = await define(world, 'cohorts', {
    name: 'Pros',
    filters: { properties: { type: 'OR', values: [pro] } },
  })
  const list = await define(world, 'cohorts', { name: 'List', is_static: true })
  const inCohort = (id: number) => ({
    groups: [{ properties: [{ key: 'id', value: id, type: 'cohort' }], rollout_percentage: 50 }],
  })
  const base = await define(world, 'feature_flags', { key: 'base', active: false, filters: { groups: [] } })
  const middle = await define(world, 'feature_flags', {
    key: 'middle',
    filters: { groups: [{ properties: [depends(base.id)] }] },
  })
  await define(world, 'feature_flags', {
    key: 'top',
    filters: { groups: [{ properties: [depends(middle.id)] }] },
  })
  await define(world, 'feature_flags', { key: 'pros', filters: inCohort(cohort.id), name: 'Pros only' })
  await define(world, 'feature_flags', { key: 'listed', filters: inCohort(list.id) })
  await define(world, 'feature_flags', { key: 'remote', is_remote_configuration: true })
  const gone = await define(world, 'feature_flags', { key: 'gone' })
  await world.send('PATCH', `${flagsPath}${gone.id}`, { deleted: true })
  await seen(world, 6)
  for (const path of paths) {
    const reply = await world.get(`${path}?token=phc_1&send_cohorts`)
    t.equal(reply.status, 200, path)
    const body = jsonOf(reply)
    t.same(
      body.flags.map(({ key }: { key: string }) => key),
      ['base', 'middle', 'top', 'pros', 'listed'],
    )
    t.strictSame(body.flags[3], {
      id: 4,
      team_id: 1,
      name: 'Pros only',
      key: 'pros',
      filters: inCohort(cohort.id),
      deleted: false,
      active: true,
      ensure_experience_continuity: false,
      version: 1,
      has_encrypted_payloads: false,
      evaluation_runtime: 'all',
      evaluation_tags: [],
      bucketing_identifier: 'distinct_id',
    })
    t.match(body.flags[0], { active: false })
    t.strictSame(body.flags[2].filters.groups[0].properties, [
      { ...depends(middle.id), key: 'middle', dependency_chain: ['base', 'middle'] },
    ])
    t.strictSame(body.group_type_mapping, { 0: 'company' })
    t.strictSame(body.cohorts, { [cohort.id]: { type: 'OR', values: [pro] } })
  }
  const plain = jsonOf(await world.get('/flags/definitions?token=phc_1'))
  t.strictSame(plain.cohorts, {})
  t.strictSame(plain.flags[3].filters, { groups: [{ properties: [pro], rollout_percentage: 50 }] })
  t.strictSame(plain.flags[4].filters, inCohort(list.id))
})

t.test('does not send again what the caller has', async (t) => {
  const world = await openWorld(t)
  await define(world, 'feature_flags', { key: 'a' })
  await seen(world, 1)
  const authorization = 'Bearer phx_member'
  const first = await ask(world, '/flags/definitions?token=phc_1', { authorization })
  const etag = first.headers.get('etag') ?? ''
  t.match(etag, /^"[\w-]{27}"$/)
  t.equal(first.status, 200)
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await ask(world, '/flags/definitions?token=phc_1', {
      authorization,
      'if-none-match': known,
    })
    t.equal(again.status, 304)
    t.equal(await again.text(), '')
    t.equal(again.headers.get('etag'), etag)
  }
  t.equal((await ask(world, '/flags/definitions?token=phc_1', { 'if-none-match': etag })).status, 401)
  await define(world, 'feature_flags', { key: 'b' })
  await seen(world, 2)
  const changed = await ask(world, '/flags/definitions?token=phc_1', { authorization, 'if-none-match': etag })
  t.equal(changed.status, 200)
  t.not(changed.headers.get('etag'), etag)
})

t.test('asks for a key of the scope, and for a project that the key opens', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_flags', 1, { scopes: ['feature_flag:read'], projects: [2] })
  await addKey(world.postgres, 'phx_persons', 1, { scopes: ['person:read'] })
  for (const [path, code] of [
    ['/flags/definitions', 200],
    ['/api/projects/@current/feature_flags/x/remote_config', 404],
  ] as const) {
    t.equal(
      (await world.get(`${path}?token=phc_2`, 'phx_flags')).status,
      code,
      'not the current project, but its own',
    )
    t.same(codeOf(await world.get(`${path}?token=phc_1`, 'phx_flags')), [403, 'permission_denied'])
    t.same(codeOf(await world.get(`${path}?token=phc_1`, 'phx_persons')), [403, 'permission_denied'])
    t.same(codeOf(await world.get(`${path}?token=phc_3`)), [403, 'permission_denied'])
    t.same(codeOf(await world.get(`${path}?token=phc_nobody`)), [401, 'authentication_failed'])
    t.same(codeOf(await world.get(`${path}?token=phc_1`, '')), [401, 'not_authenticated'])
    t.same(codeOf(await world.get(`${path}?token=phc_1`, 'phx_nobody')), [401, 'authentication_failed'])
    t.equal((await world.get(path)).status, code, 'without a token it is the current project')
  }
  t.equal((await world.send('POST', '/flags/definitions?token=phc_1', {})).status, 405)
})

t.test('is counted apart from what else a key asks', async (t) => {
  const world = await openWorld(t)
  const statuses = new Set<number>()
  const asking = async (): Promise<void> => {
    for (let n = 0; n < 70; n++) statuses.add((await world.get('/flags/definitions?token=phc_1')).status)
  }
  await Promise.all(Array.from({ length: 7 }, asking))
  t.same([...statuses], [200], '490 times, where others end at 480')
  t.equal((await world.get('/api/projects/1/cohorts')).status, 200)
})

t.test('a project over its quota is told so', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query('update project set monthly_event_quota = 0 where id = 1')
  await until(async () => (await world.get('/flags/definitions?token=phc_1')).status === 402)
  t.same(codeOf(await world.get('/flags/definitions')), [402, 'payment_required'])
  t.equal((await world.get('/flags/definitions?token=phc_2')).status, 200)
})

t.test('reads the payload of a remote configuration flag by key and by id', async (t) => {
  const world = await openWorld(t)
  const filters = { groups: [], payloads: { true: '{"limit": 5}' } }
  const { id } = await define(world, 'feature_flags', {
    key: 'limits',
    filters,
    is_remote_configuration: true,
  })
  await define(world, 'feature_flags', { key: 'empty', is_remote_configuration: true })
  await define(world, 'feature_flags', { key: 'plain', filters })
  await seen(world, 3)
  for (const at of ['1/feature_flags/limits', `@current/feature_flags/${id}`]) {
    const reply = await world.get(`/api/projects/${at}/remote_config?token=phc_1`)
    t.equal(reply.status, 200)
    t.equal(reply.text, '"{\\"limit\\": 5}"')
  }
  t.equal((await world.get('/api/projects/1/feature_flags/empty/remote_config/')).text, 'null')
  for (const other of ['plain', 'none', '99', '__proto__', 'constructor'])
    t.equal((await world.get(`/api/projects/1/feature_flags/${other}/remote_config/`)).status, 404, other)
  t.equal((await world.get('/api/projects/2/feature_flags/limits/remote_config/')).status, 404)
  t.equal(
    (await world.get('/api/projects/1/feature_flags/limits/remote_config/', 'phx_stranger')).status,
    404,
  )
})
