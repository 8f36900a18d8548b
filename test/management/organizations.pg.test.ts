import t from 'tap'
import { addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'

async function stored(world: World, id: string = ids.ours): Promise<object | undefined> {
  const { rows } = await world.postgres.query<object>('select * from organization where id = $1', [id])
  return rows[0]
}

t.test('shows an organization with its projects and the number of its members', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(`update app_user set email = 'x@posthogbot.user' where id = 1`)
  for (const id of [ids.ours, '@current']) {
    const reply = await world.get(`/api/organizations/${id}`, 'phx_administrator')
    t.equal(reply.status, 200)
    const { teams, created_at, updated_at, ...rest } = jsonOf(reply)
    t.strictSame(rest, {
      id: ids.ours,
      name: 'Ours',
      slug: 'ours',
      logo_media_id: null,
      membership_level: 8,
      plugins_access_level: 9,
      projects: [
        { id: 1, name: 'Default project', organization_id: ids.ours },
        { id: 2, name: 'Default project', organization_id: ids.ours },
      ],
      available_product_features: [],
      is_member_join_email_enabled: true,
      metadata: '{"instance_tag": "none"}',
      customer_id: null,
      enforce_2fa: null,
      member_count: '2',
      is_ai_data_processing_approved: null,
    })
    t.match(created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    t.match(updated_at, /Z$/)
    t.match(teams[0], {
      id: 1,
      organization: ids.ours,
      project_id: 1,
      api_token: 'phc_1',
      name: 'Default project',
      ingested_event: false,
      is_demo: false,
      timezone: 'UTC',
      access_control: false,
    })
  }
  // Who does not count for two reasons, and who is not a member, is taken off once and not at all.
  await world.postgres.query('update app_user set is_active = false where id in (1, 4)')
  const { member_count } = jsonOf(await world.get(`/api/organizations/${ids.ours}`, 'phx_administrator'))
  t.equal(member_count, '2')
})

t.test('does not find an organization of others, or none', async (t) => {
  const world = await openWorld(t)
  for (const id of [ids.theirs, ids.nobodys, 'no-uuid']) {
    t.match(await world.get(`/api/organizations/${id}/`), {
      status: 404,
      text: '{"type":"invalid_request","code":"not_found","detail":"Not found.","attr":null}',
    })
  }
  await world.postgres.query('update app_user set current_organization_id = null where id = 1')
  t.match(jsonOf(await world.get('/api/organizations/@current')), { id: ids.ours })
  await world.postgres.query('delete from membership where user_id = 1')
  t.match(await world.get('/api/organizations/@current'), {
    status: 404,
    text: /"detail":"Current organization not found\."/,
  })
})

t.test('makes an organization with a project, owned by its maker, who is taken to it', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send('POST', '/api/organizations/', { name: ' Test ' }, 'phx_member')
  t.equal(reply.status, 201)
  const made = jsonOf(reply)
  t.match(made, { name: 'Test', slug: 'test', membership_level: 15, member_count: '1' })
  t.match(made.created_at, '2024-05-01T12:00:00Z')
  t.match(made.projects, [{ name: 'Default project', organization_id: made.id }])
  t.match(made.teams, [{ id: made.projects[0].id, api_token: /^phc_\w{40,}$/ }])
  t.match(made.id, /^018f3406-9e00-7/)
  const { rows } = await world.postgres.query(
    'select current_organization_id, current_project_id from app_user where id = 1',
  )
  t.same(rows, [{ current_organization_id: made.id, current_project_id: made.projects[0].id }])
  t.equal((await world.get(`/api/organizations/${made.id}/`, 'phx_owner')).status, 404)
  t.equal((await world.get(`/api/organizations/${made.id}/`, 'phx_member')).status, 200)
})

t.test('gives each organization a slug of its own', async (t) => {
  const world = await openWorld(t)
  const slugs: string[] = []
  for (const name of ['My Org', 'My Org', '***', '***']) {
    slugs.push(jsonOf(await world.send('POST', '/api/organizations/', { name })).slug)
  }
  t.match(slugs, ['my-org', /^my-org-[a-z]{4}$/, '', /^-[a-z]{4}$/])
  const renamed = await world.send('PATCH', '/api/organizations/@current/', { name: 'Renamed' })
  t.match(jsonOf(renamed), { name: 'Renamed', slug: slugs[3]! })
})

t.test('refuses what cannot be stored, and stores nothing', async (t) => {
  const world = await openWorld(t)
  const cases: [body: unknown, code: string, attr: string | null][] = [
    [{}, 'required', 'name'],
    [{ name: null }, 'null', 'name'],
    [{ name: '' }, 'blank', 'name'],
    [{ name: ' ' }, 'blank', 'name'],
    [{ name: 'a'.repeat(65) }, 'max_length', 'name'],
    [{ name: ['a'] }, 'invalid_input', 'name'],
    [{ name: 'a\0' }, 'invalid_input', 'name'],
    ['{"name": "\\ud800"}', 'invalid_input', 'name'],
    [{ name: 'a', logo_media_id: 'x' }, 'invalid_input', 'logo_media_id'],
    [{ name: 'a', is_member_join_email_enabled: null }, 'null', 'is_member_join_email_enabled'],
    [{ name: 'a', enforce_2fa: 'maybe' }, 'invalid_input', 'enforce_2fa'],
    [[], 'invalid_input', null],
    ['{', 'parse_error', null],
  ]
  for (const [body, code, attr] of cases) {
    const reply = await world.send('POST', '/api/organizations/', body)
    t.equal(reply.status, 400)
    t.match(jsonOf(reply), { code, attr }, JSON.stringify(body))
  }
  t.same((await world.postgres.query('select count(*) from organization')).rows, [{ count: 2 }])
})

t.test('changes the fields that are sent, and no field of its own', async (t) => {
  const world = await openWorld(t)
  const path = `/api/organizations/${ids.ours}/`
  const logo = '00000000-0000-4000-8000-0000000000ff'
  const first = await world.send(
    'PATCH',
    path,
    { logo_media_id: logo, enforce_2fa: 'yes' },
    'phx_administrator',
  )
  t.equal(first.status, 200)
  t.match(jsonOf(first), { name: 'Ours', logo_media_id: logo, enforce_2fa: true })
  const readOnly = { id: ids.theirs, slug: 'x', customer_id: 'y', plugins_access_level: 0, metadata: 'z' }
  const second = await world.send('PATCH', path, {
    ...readOnly,
    ['__proto__']: 1,
    unknown: 1,
    enforce_2fa: null,
  })
  t.match(jsonOf(second), {
    id: ids.ours,
    slug: 'ours',
    customer_id: null,
    plugins_access_level: 9,
    enforce_2fa: null,
    logo_media_id: logo,
    updated_at: '2024-05-01T12:00:00Z',
  })
  t.match(await world.send('PUT', path, { is_member_join_email_enabled: false }), {
    status: 400,
    text: /"code":"required".*"attr":"name"/,
  })
  const third = await world.send('PUT', path, { name: 'QWERTY', is_member_join_email_enabled: false })
  t.match(jsonOf(third), { name: 'QWERTY', is_member_join_email_enabled: false, logo_media_id: logo })
  t.match(await stored(world), { name: 'QWERTY', is_member_join_email_enabled: false, logo_media_id: logo })
})

t.test('is changed by administrators only', async (t) => {
  const world = await openWorld(t)
  const path = `/api/organizations/${ids.ours}/`
  const before = await stored(world)
  t.match(await world.send('PATCH', path, { name: 'X' }, 'phx_member'), {
    status: 403,
    text: /"detail":"Your organization access level is insufficient\."/,
  })
  t.equal((await world.send('PATCH', path, { name: 'X' }, 'phx_stranger')).status, 404)
  await addKey(world.postgres, 'phx_reads', 3, { scopes: ['organization:read'] })
  t.match(await world.send('PATCH', path, { name: 'X' }, 'phx_reads'), {
    status: 403,
    text: /required scope 'organization:write'/,
  })
  t.same(await stored(world), before)
})

t.test('lists what the caller belongs to and the key opens, in pages', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(
    'insert into membership (id, organization_id, user_id, level) values (gen_random_uuid(), $1, 3, 1)',
    [ids.theirs],
  )
  const page = jsonOf(await world.get('/api/organizations/?limit=1', 'phx_owner'))
  t.match(page, {
    count: 2,
    next: 'https://spate.example/api/organizations/?limit=1&offset=1',
    previous: null,
    results: [{ id: ids.ours, membership_level: 15 }],
  })
  t.equal(page.results.length, 1)
  t.strictSame(Object.keys(page.results[0]).includes('list_row'), false)
  t.match(jsonOf(await world.get('/api/organizations/?limit=1&offset=1', 'phx_owner')), {
    next: null,
    results: [{ id: ids.theirs, membership_level: 1, projects: [{ id: 3 }] }],
  })
  const beyond = jsonOf(await world.get('/api/organizations/?offset=7', 'phx_owner'))
  t.match(beyond, { count: 2, next: null, results: [] })
  await addKey(world.postgres, 'phx_one', 3, { organizations: [ids.ours] })
  t.match(jsonOf(await world.get('/api/organizations/', 'phx_one')), {
    count: 1,
    results: [{ id: ids.ours }],
  })
  t.equal((await world.get(`/api/organizations/${ids.theirs}/`, 'phx_one')).status, 403)
  t.equal((await world.send('POST', '/api/organizations/', { name: 'x' }, 'phx_one')).status, 403)
  await addKey(world.postgres, 'phx_project', 3, { projects: [1] })
  t.match(await world.get('/api/organizations/', 'phx_project'), { status: 403, text: /scoped projects/ })
})

t.test('asks for a key, a good one, and its scope', async (t) => {
  const world = await openWorld(t)
  t.match(await world.get('/api/organizations/', ''), { status: 401, text: /"code":"not_authenticated"/ })
  t.match(await world.get('/api/organizations/', 'phx_wrong'), {
    status: 401,
    text: /"code":"authentication_failed","detail":"[^"]*Authorization header/,
  })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['project:read'] })
  t.match(await world.get('/api/organizations/', 'phx_other'), {
    status: 403,
    text: /API key missing required scope 'organization:read'/,
  })
})
