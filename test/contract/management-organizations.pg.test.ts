// Organizations over HTTP, answer by answer: status and body as a client gets them.

import t from 'tap'
import { addKey, ids, jsonOf, openWorld } from '../api/world.ts'
import { askerOf, denied, error, insufficient, invalid, notFound } from './answers.ts'

const world = await openWorld(t)
const { get, send, remove } = askerOf(world)
const list = '/api/organizations/'
const ours = `/api/organizations/${ids.ours}/`
const now = '2024-05-01T12:00:00Z'
const shown = async (key = 'phx_owner') => jsonOf(await world.get(ours, key))

t.test('wants a key, a good one, and the scope', async (t) => {
  const type = 'authentication_error'
  t.strictSame(
    await get(list, ''),
    error(401, type, 'not_authenticated', 'Authentication credentials were not provided.'),
  )
  t.strictSame(
    await get(list, 'phx_wrong'),
    error(
      401,
      type,
      'authentication_failed',
      'Personal API key found in request Authorization header is invalid.',
    ),
  )
  await addKey(world.postgres, 'phx_projects', 3, { scopes: ['project:read'] })
  t.strictSame(await get(list, 'phx_projects'), denied("API key missing required scope 'organization:read'"))
})

t.test('@current is the organization where the caller is, with and without slash', async (t) => {
  const { created_at, updated_at, teams, ...rest } = await shown()
  t.match([created_at, updated_at], [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/])
  t.strictSame(rest, {
    id: ids.ours,
    name: 'Ours',
    slug: 'ours',
    logo_media_id: null,
    membership_level: 15,
    plugins_access_level: 9,
    projects: [
      { id: 1, organization_id: ids.ours, name: 'Default project' },
      { id: 2, organization_id: ids.ours, name: 'Default project' },
    ],
    available_product_features: [],
    is_member_join_email_enabled: true,
    metadata: '{"instance_tag": "none"}',
    customer_id: null,
    enforce_2fa: null,
    member_count: '3',
    is_ai_data_processing_approved: null,
  })
  for (const path of ['/api/organizations/@current', '/api/organizations/@current/', ours]) {
    t.strictSame(await get(path, 'phx_owner'), [200, { created_at, updated_at, teams, ...rest }])
  }
})

t.test('a new one comes with a project and belongs to its maker, who may have others', async (t) => {
  const [status, body] = await send('POST', list, { name: 'Test' })
  t.equal(status, 201)
  // The organization.
  const made = body as { id: string; teams: { uuid: string; api_token: string }[] }
  t.match(made.id, /^018f3406-9e00-7[0-9a-f]{3}-/)
  t.match(made.teams[0], { uuid: /^018f3406-9e00-7[0-9a-f]{3}-/, api_token: /^phc_[0-9a-zA-Z]{40,}$/ })
  t.strictSame(made, {
    id: made.id,
    name: 'Test',
    slug: 'test',
    logo_media_id: null,
    created_at: now,
    updated_at: now,
    membership_level: 15,
    plugins_access_level: 9,
    teams: [
      {
        id: 4,
        uuid: made.teams[0]?.uuid,
        organization: made.id,
        project_id: 4,
        api_token: made.teams[0]?.api_token,
        name: 'Default project',
        completed_snippet_onboarding: false,
        has_completed_onboarding_for: null,
        ingested_event: false,
        is_demo: false,
        timezone: 'UTC',
        access_control: false,
      },
    ],
    projects: [{ id: 4, organization_id: made.id, name: 'Default project' }],
    available_product_features: [],
    is_member_join_email_enabled: true,
    metadata: '{"instance_tag": "none"}',
    customer_id: null,
    enforce_2fa: null,
    member_count: '1',
    is_ai_data_processing_approved: null,
  })
  t.strictSame(await get('/api/organizations/@current/', 'phx_owner'), [200, made])
})

t.test('a name is wanted, of one to 64 characters', async (t) => {
  t.strictSame(await send('POST', list, {}), invalid('required', 'This field is required.', 'name'))
  t.strictSame(
    await send('POST', list, { name: '' }),
    invalid('blank', 'This field may not be blank.', 'name'),
  )
  t.strictSame(
    await send('POST', list, { name: 'a'.repeat(65) }),
    invalid('max_length', 'Ensure this field has no more than 64 characters.', 'name'),
  )
  t.equal((await send('POST', list, { name: 'a'.repeat(64) }))[0], 201)
})

t.test('two of one name have two slugs', async (t) => {
  const made = [
    await world.send('POST', list, { name: 'My Org' }),
    await world.send('POST', list, { name: 'My Org' }),
  ]
  const [first, second] = made.map((answer) => jsonOf(answer).slug)
  t.equal(first, 'my-org')
  t.match(second, /^my-org-[a-z]{4}$/)
})

t.test('administrators and owners change it, and nothing but what may be changed', async (t) => {
  const before = await shown()
  world.clock.ms += 1000
  const updated_at = '2024-05-01T12:00:01Z'
  t.strictSame(await send('PATCH', ours, { name: 'QWERTY' }, 'phx_administrator'), [
    200,
    { ...before, name: 'QWERTY', membership_level: 8, updated_at },
  ])
  const after = { ...before, name: 'QWERTY', is_member_join_email_enabled: false, updated_at }
  t.strictSame(await send('PATCH', ours, { is_member_join_email_enabled: false }), [200, after])
  t.strictSame(await send('PATCH', ours, { name: 'Mine' }, 'phx_member'), insufficient)
  t.strictSame(await send('PATCH', ours, { slug: 'x', customer_id: 'y', plugins_access_level: 0 }), [
    200,
    after,
  ])
  t.strictSame(
    await send('PATCH', ours, { enforce_2fa: 'maybe' }),
    invalid('invalid_input', 'Must be a valid boolean.', 'enforce_2fa'),
  )
  t.strictSame(
    await send('PATCH', ours, { logo_media_id: '' }),
    invalid('invalid_input', 'Must be a valid UUID.', 'logo_media_id'),
  )
  t.strictSame(await get(ours, 'phx_owner'), [200, after])
})

t.test('an organization of others does not exist', async (t) => {
  t.strictSame(await get(`/api/organizations/${ids.theirs}/`, 'phx_owner'), notFound)
  t.strictSame(await send('PATCH', `/api/organizations/${ids.theirs}/`, { name: 'Mine' }), notFound)
})

t.test('a list comes in pages with links, and only with what the key opens', async (t) => {
  await world.postgres.query(
    'insert into membership (id, organization_id, user_id, level) values (gen_random_uuid(), $1, 2, 1)',
    [ids.theirs],
  )
  t.strictSame(await get(`${list}?limit=1`, 'phx_administrator'), [
    200,
    {
      count: 2,
      next: 'https://spate.example/api/organizations/?limit=1&offset=1',
      previous: null,
      results: [await shown('phx_administrator')],
    },
  ])
  t.strictSame(await get(`${list}?z=1&limit=1&offset=1`, 'phx_administrator'), [
    200,
    {
      count: 2,
      next: null,
      previous: 'https://spate.example/api/organizations/?limit=1&z=1',
      results: [jsonOf(await world.get(`/api/organizations/${ids.theirs}/`, 'phx_administrator'))],
    },
  ])
  await addKey(world.postgres, 'phx_one', 2, { organizations: [ids.ours] })
  t.strictSame(await get(list, 'phx_one'), [
    200,
    { count: 1, next: null, previous: null, results: [await shown('phx_administrator')] },
  ])
  t.strictSame(
    await get(`/api/organizations/${ids.theirs}/`, 'phx_one'),
    denied(`API key does not have access to the requested organization: ID ${ids.theirs}.`),
  )
})

t.test('only an owner deletes it, and then it is gone', async (t) => {
  t.strictSame(await remove(ours, 'phx_administrator'), insufficient)
  t.strictSame(await remove(ours), [204, ''])
  t.strictSame(await get(ours, 'phx_owner'), notFound)
  t.strictSame(await remove(ours), notFound)
})
