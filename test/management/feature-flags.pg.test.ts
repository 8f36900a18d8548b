import t from 'tap'
import { type Answer, addKey, jsonOf, openWorld, type World } from '../api/world.ts'

const path = '/api/projects/1/feature_flags/'

async function create(world: World, flag: object): Promise<{ id: number; version: number; filters: object }> {
  const reply = await world.send('POST', path, flag)
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
  return jsonOf(reply)
}

async function keys(world: World, query = ''): Promise<string[]> {
  const reply = await world.get(`${path}?${query}`)
  return jsonOf(reply).results.map((flag: { key: string }) => flag.key)
}

function refusal(answer: Answer): unknown[] {
  const { code, detail, attr } = jsonOf(answer)
  return [answer.status, code, attr, detail]
}

t.test('creates a flag of a key alone, for everyone', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send('POST', '/api/projects/@current/feature_flags', { key: 'omega-feature' })
  t.equal(reply.status, 201)
  const { created_by, ...flag } = jsonOf(reply)
  t.strictSame(flag, {
    id: 1,
    key: 'omega-feature',
    name: '',
    filters: { groups: [{ properties: [], rollout_percentage: null }] },
    active: true,
    deleted: false,
    version: 1,
    ensure_experience_continuity: false,
    evaluation_runtime: 'all',
    evaluation_tags: [],
    is_remote_configuration: false,
    has_encrypted_payloads: false,
    bucketing_identifier: 'distinct_id',
    tags: [],
    created_at: '2024-05-01T12:00:00Z',
    updated_at: '2024-05-01T12:00:00Z',
    last_modified_by: created_by,
    features: [],
    rollout_percentage: null,
    is_simple_flag: true,
  })
  t.match(created_by, { id: 3, email: 'owner@spate.example' })
  t.strictSame(jsonOf(await world.get(`${path}1`)), jsonOf(reply))
})

t.test('stores every field as it was sent', async (t) => {
  const world = await openWorld(t)
  const sent = {
    key: 'Multi_1',
    name: 'Several',
    active: false,
    filters: {
      groups: [
        {
          properties: [{ key: 'plan', value: ['pro'], operator: 'exact', type: 'person' }],
          rollout_percentage: 12.5,
          variant: 'b',
        },
      ],
      multivariate: {
        variants: [
          { key: 'a', name: 'A', rollout_percentage: 50 },
          { key: 'b', rollout_percentage: 50 },
        ],
      },
      payloads: { a: '{"x": 1}' },
      of_a_later_version: { kept: true },
    },
    ensure_experience_continuity: true,
    evaluation_runtime: 'server',
    evaluation_tags: ['web'],
    bucketing_identifier: 'device_id',
    tags: ['team a', 'ü'],
  }
  const created = await create(world, sent)
  t.match(created, sent)
  t.match(created, { rollout_percentage: null, is_simple_flag: false })
  t.match(await create(world, { key: 'thirty', rollout_percentage: 30 }), {
    filters: { groups: [{ properties: [], rollout_percentage: 30 }] },
    rollout_percentage: 30,
  })
  t.match(await create(world, { key: 'nulls', active: null, evaluation_runtime: null, version: null }), {
    active: true,
  })
})

t.test('refuses what is wrong with a flag, naming the field, and stores nothing', async (t) => {
  const world = await openWorld(t)
  await create(world, { key: 'taken' })
  const invalid = 'Filters are not valid: '
  const cases: [body: unknown, code: string, attr: string | null, detail: string][] = [
    [{}, 'required', 'key', 'This field is required.'],
    [{ key: '' }, 'blank', 'key', 'This field may not be blank.'],
    [
      { key: 'a b' },
      'invalid_input',
      'key',
      'Only letters, numbers, hyphens (-) & underscores (_) are allowed.',
    ],
    [{ key: 'x'.repeat(401) }, 'max_length', 'key', 'Ensure this field has no more than 400 characters.'],
    [{ key: 'taken' }, 'unique', 'key', 'There is already a feature flag with this key.'],
    [{ key: 'a', active: 'maybe' }, 'invalid_input', 'active', 'Must be a valid boolean.'],
    [
      { key: 'a', evaluation_runtime: 'edge' },
      'invalid_choice',
      'evaluation_runtime',
      '"edge" is not a valid choice.',
    ],
    [
      { key: 'a', rollout_percentage: 101 },
      'max_value',
      'rollout_percentage',
      'Ensure this value is less than or equal to 100.',
    ],
    [{ key: 'a', tags: 'x' }, 'not_a_list', 'tags', 'Expected a list of items but got type "str".'],
    [
      { key: 'a', filters: [] },
      'invalid_input',
      'filters',
      'Invalid data. Expected a dictionary, but got list.',
    ],
    [
      { key: 'a', filters: { groups: [{ rollout_percentage: 101 }] } },
      'invalid_input',
      'filters',
      `${invalid}groups[0].rollout_percentage must be a number from 0 to 100, or null.`,
    ],
    [
      { key: 'a', filters: { groups: [], x: '\0' } },
      'invalid_input',
      'filters',
      'Null characters are not allowed.',
    ],
    ['{"key":"a","filters":{"groups":[],"x":"\\ud800"}}', 'invalid_input', 'filters', 'Not a valid string.'],
    [
      { key: 'a', filters: { groups: [{ properties: [{ type: 'cohort', key: 'id', value: 7 }] }] } },
      'invalid_input',
      'filters',
      `${invalid}cohort 7 does not exist.`,
    ],
    [
      {
        key: 'a',
        filters: {
          groups: [{ properties: [{ type: 'flag', key: '9', value: true, operator: 'flag_evaluates_to' }] }],
        },
      },
      'invalid_input',
      'filters',
      `${invalid}feature flag 9 does not exist.`,
    ],
    [
      { key: 'a', filters: { groups: [], x: 'y'.repeat(262_144) } },
      'invalid_input',
      'filters',
      `${invalid}they take more than 256 KiB.`,
    ],
  ]
  for (const [body, code, attr, detail] of cases)
    t.strictSame(refusal(await world.send('POST', path, body)), [400, code, attr, detail])
  t.same(await keys(world), ['taken'])
  const { rows } = await world.postgres.query('select count(*) as count from organization_activity')
  t.same(rows, [{ count: 1 }], 'and nothing is noted')
})

t.test('changes what is sent, counts versions, and says who did it', async (t) => {
  const world = await openWorld(t)
  const { id } = await create(world, {
    key: 'a',
    name: 'one',
    filters: { groups: [{}], payloads: { true: '1' } },
  })
  world.clock.ms += 1000
  const patched = jsonOf(await world.send('PATCH', `${path}${id}/`, { name: 'two', id: 99 }, 'phx_member'))
  t.match(patched, {
    id,
    name: 'two',
    version: 2,
    updated_at: '2024-05-01T12:00:01Z',
    created_at: '2024-05-01T12:00:00Z',
    created_by: { id: 3 },
    last_modified_by: { id: 1 },
  })
  const laid = jsonOf(await world.send('PATCH', `${path}${id}/`, { filters: { payloads: { true: '2' } } }))
  t.strictSame(laid.filters, { groups: [{}], payloads: { true: '2' } }, 'filters without groups keep them')
  const replaced = jsonOf(await world.send('PATCH', `${path}${id}/`, { filters: { groups: [] } }))
  t.strictSame(replaced.filters, { groups: [] })
  t.match(jsonOf(await world.send('PUT', `${path}${id}/`, { key: 'b' })), {
    key: 'b',
    name: 'two',
    version: 5,
  })
  t.strictSame(refusal(await world.send('PUT', `${path}${id}/`, { name: 'x' })).slice(0, 3), [
    400,
    'required',
    'key',
  ])
  const rolled = { filters: { groups: [{ rollout_percentage: -1 }] }, name: 'not this' }
  t.equal((await world.send('PATCH', `${path}${id}/`, rolled)).status, 400)
  t.match(jsonOf(await world.get(`${path}${id}`)), { name: 'two', version: 5 })
})

t.test('refuses a change of a version that is not there any more', async (t) => {
  const world = await openWorld(t)
  const { id } = await create(world, { key: 'a' })
  t.match(jsonOf(await world.send('PATCH', `${path}${id}/`, { name: 'two', version: 1 }, 'phx_member')), {
    version: 2,
  })
  const late = await world.send('PATCH', `${path}${id}/`, { name: 'late', version: 1 })
  t.equal(late.status, 409)
  t.match(jsonOf(late), { type: 'invalid_request', code: 'conflict', attr: 'version' })
  t.match(
    jsonOf(late).detail,
    /^The feature flag was updated by member@spate\.example since you started editing it/,
  )
  t.match(jsonOf(await world.get(`${path}${id}`)), { name: 'two', version: 2 })
})

t.test('deletes by PATCH, restores, and frees the key meanwhile', async (t) => {
  const world = await openWorld(t)
  const { id } = await create(world, { key: 'a' })
  const refused = await world.send('DELETE', `${path}${id}/`, '')
  t.equal(refused.status, 405)
  t.equal(refused.headers.get('allow'), 'GET, PUT, PATCH, HEAD')
  t.match(jsonOf(await world.send('PATCH', `${path}${id}/`, { deleted: true })), {
    deleted: true,
    version: 2,
  })
  t.same(await keys(world), [])
  t.match(jsonOf(await world.get(`${path}${id}`)), { deleted: true }, 'it is still to be read')
  const other = await create(world, { key: 'a' })
  t.strictSame(refusal(await world.send('PATCH', `${path}${id}/`, { deleted: false })), [
    400,
    'unique',
    'key',
    'There is already a feature flag with this key.',
  ])
  await world.send('PATCH', `${path}${other.id}/`, { deleted: true })
  t.match(jsonOf(await world.send('PATCH', `${path}${id}/`, { deleted: false })), { deleted: false })
  t.same(await keys(world), ['a'])
})

t.test('lists by activity, kind, text and author, newest first, in pages', async (t) => {
  const world = await openWorld(t)
  const variants = [{ key: 'x', rollout_percentage: 100 }]
  await create(world, { key: 'plain', name: 'Checkout 100%' })
  world.clock.ms += 1000
  await create(world, { key: 'multi', filters: { groups: [], multivariate: { variants } } })
  await create(world, { key: 'none', filters: { groups: [], multivariate: { variants: [] } }, active: false })
  await create(world, { key: 'remote', is_remote_configuration: true })
  await world.send('POST', path, { key: 'members' }, 'phx_member')
  await world.send('POST', '/api/projects/2/feature_flags/', { key: 'elsewhere' })
  t.same(await keys(world), ['members', 'remote', 'none', 'multi', 'plain'])
  t.same(await keys(world, 'active=false'), ['none'])
  t.same(await keys(world, 'active=true&type=boolean'), ['members', 'plain'])
  t.same(await keys(world, 'type=multivariate'), ['multi'])
  t.same(await keys(world, 'type=remote_config'), ['remote'])
  t.same(await keys(world, 'type=experiment'), [])
  t.same(await keys(world, 'search=CHECK'), ['plain'])
  t.same(await keys(world, 'search=0%25'), ['plain'])
  t.same(await keys(world, 'created_by_id=1'), ['members'])
  t.same(await keys(world, 'limit=2&offset=1'), ['remote', 'none'])
  t.match(jsonOf(await world.get(`${path}?limit=2&offset=1`)), {
    count: 5,
    next: 'https://spate.example/api/projects/1/feature_flags/?limit=2&offset=3',
  })
  t.strictSame(refusal(await world.get(`${path}?type=odd`)).slice(0, 3), [400, 'invalid_choice', 'type'])
  t.strictSame(refusal(await world.get(`${path}?active=STALE`)).slice(0, 3), [400, 'invalid_input', 'active'])
})

t.test('tells who changed what', async (t) => {
  const world = await openWorld(t)
  const { id } = await create(world, { key: 'a' })
  await create(world, { key: 'b' })
  world.clock.ms += 1000
  await world.send('PATCH', `${path}${id}/`, { active: false }, 'phx_member')
  await world.send('PATCH', `${path}${id}/`, {})
  world.clock.ms += 1000
  await world.send('PATCH', `${path}${id}/`, { deleted: true })
  const one = jsonOf(await world.get(`${path}${id}/activity/`))
  t.equal(one.count, 3, 'a change of nothing is none')
  t.match(one.results.slice(0, 2), [
    { activity: 'deleted', scope: 'FeatureFlag', item_id: String(id), user: { id: 3 } },
    {
      activity: 'updated',
      user: { id: 1 },
      detail: { changes: [{ field: 'active', before: true, after: false }] },
      created_at: '2024-05-01T12:00:01Z',
    },
  ])
  t.equal(jsonOf(await world.get(`${path}activity`)).count, 4)
  t.equal(jsonOf(await world.get('/api/projects/2/feature_flags/activity/')).count, 0)
  t.equal((await world.get(`/api/projects/2/feature_flags/${id}/activity/`)).status, 200)
  t.equal(jsonOf(await world.get(`/api/projects/2/feature_flags/${id}/activity/`)).count, 0)
})

t.test('flags are behind the wall of their project, and need their scope', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['feature_flag:read'] })
  await addKey(world.postgres, 'phx_persons', 1, { scopes: ['person:write', 'cohort:write'] })
  await addKey(world.postgres, 'phx_two', 1, { projects: [2] })
  const { id } = await create(world, { key: 'ours' })
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  t.equal((await world.get(path, 'phx_persons')).status, 403)
  t.equal((await world.get(path, 'phx_two')).status, 403)
  t.equal((await world.get(path, '')).status, 401)
  t.equal((await world.get(path, 'phx_stranger')).status, 404)
  t.equal((await world.send('PATCH', `${path}${id}`, { name: 'x' }, 'phx_reader')).status, 403)
  t.equal((await world.send('POST', path, { key: 'x' }, 'phx_reader')).status, 403)
  t.equal((await world.send('PATCH', `${path}${id}`, { name: 'x' }, 'phx_stranger')).status, 404)
  for (const project of [2, 3]) {
    const elsewhere = `/api/projects/${project}/feature_flags/`
    const key = project === 3 ? 'phx_stranger' : 'phx_owner'
    t.equal((await world.get(`${elsewhere}${id}`, key)).status, 404)
    t.equal((await world.send('PATCH', `${elsewhere}${id}`, { name: 'x' }, key)).status, 404)
    const depending = {
      key: 'theirs',
      filters: {
        groups: [{ properties: [{ type: 'flag', key: id, value: true, operator: 'flag_evaluates_to' }] }],
      },
    }
    t.match(refusal(await world.send('POST', elsewhere, depending, key))[3], /feature flag 1 does not exist/)
    t.equal(
      (await world.send('POST', elsewhere, { key: 'ours' }, key)).status,
      201,
      'a key may exist in each project',
    )
  }
  for (const odd of ['0', 'abc', '2147483648', '-1', '1.0'])
    t.equal((await world.get(`${path}${odd}`)).status, 404, odd)
  t.match(jsonOf(await world.get(`${path}${id}`)), { name: '', version: 1 })
})

t.test('a project has at most 2,000 flags', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(
    `insert into feature_flag (project_id, key, filters) select 1, 'f' || n, '{}' from generate_series(1, 1999) n`,
  )
  const { id } = await create(world, { key: 'last' })
  t.strictSame(refusal(await world.send('POST', path, { key: 'beyond' })), [
    400,
    'invalid_input',
    null,
    'This project may have no more than 2000 feature flags.',
  ])
  t.equal((await world.send('PATCH', `${path}${id}`, { name: 'full, not shut' })).status, 200)
})
