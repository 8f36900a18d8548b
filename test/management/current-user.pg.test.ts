import t from 'tap'
import { addKey, ids, jsonOf, openWorld } from '../api/world.ts'

const path = '/api/users/@me/'

t.test('shows the caller and where the caller is', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_nothing', 1, { scopes: [] })
  for (const key of ['phx_member', 'phx_nothing']) {
    const { uuid, team, ...user } = jsonOf(await world.get(path, key))
    const organization = { id: ids.ours, name: 'Ours', slug: 'ours', membership_level: 1 }
    t.match(uuid, /^[0-9a-f-]{36}$/)
    t.match(team, {
      id: 1,
      organization: ids.ours,
      api_token: 'phc_1',
      name: 'Default project',
      timezone: 'UTC',
    })
    t.same(user, {
      id: 1,
      distinct_id: 'member',
      first_name: '',
      last_name: '',
      email: 'member@spate.example',
      is_email_verified: null,
      hedgehog_config: null,
      role_at_organization: null,
      organization,
      organizations: [organization],
    })
  }
})

t.test('changes what a person may say about oneself', async (t) => {
  const world = await openWorld(t)
  const sent = {
    first_name: 'Ada',
    role_at_organization: 'engineering',
    hedgehog_config: { color: 'green' },
    email: 'other@spate.example',
    is_email_verified: true,
    is_active: false,
  }
  t.match(jsonOf(await world.send('PATCH', path, sent, 'phx_member')), {
    first_name: 'Ada',
    last_name: '',
    email: 'member@spate.example',
    is_email_verified: null,
    role_at_organization: 'engineering',
    hedgehog_config: { color: 'green' },
  })
  for (const [field, value, code] of [
    ['first_name', 'a'.repeat(151), 'max_length'],
    ['first_name', null, 'null'],
    ['role_at_organization', 'king', 'invalid_choice'],
    ['hedgehog_config', 'x', 'invalid_input'],
    ['hedgehog_config', [], 'invalid_input'],
    ['set_current_organization', ids.theirs, 'does_not_exist'],
    ['set_current_team', 3, 'does_not_exist'],
  ]) {
    const reply = await world.send(
      'PATCH',
      path,
      { last_name: 'Not', [field as string]: value },
      'phx_member',
    )
    t.match(jsonOf(reply), { code, attr: field })
  }
  t.match(jsonOf(await world.get(path)), { first_name: 'Ada', last_name: '', team: { id: 1 } })
  await addKey(world.postgres, 'phx_reads', 1, { scopes: ['user:read'] })
  t.equal((await world.send('PATCH', path, { first_name: 'x' }, 'phx_reads')).status, 403)
})

t.test('moves between projects and organizations of the caller', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(
    'insert into membership (id, organization_id, user_id, level) values (gen_random_uuid(), $1, 1, 1)',
    [ids.theirs],
  )
  const move = async (body: object) => jsonOf(await world.send('PATCH', path, body, 'phx_member'))
  t.match(await move({ set_current_team: 2 }), { organization: { id: ids.ours }, team: { id: 2 } })
  t.match(jsonOf(await world.get('/api/projects/@current/')), { id: 2 })
  t.match(await move({ set_current_organization: ids.theirs }), {
    organization: { id: ids.theirs },
    team: { id: 3 },
  })
  t.match(jsonOf(await world.get('/api/organizations/@current/')), { id: ids.theirs })
  await addKey(world.postgres, 'phx_ours', 1, { organizations: [ids.ours] })
  const seen = jsonOf(await world.get(path, 'phx_ours'))
  t.match(seen, { organization: null, team: null, organizations: [{ id: ids.ours }] })
  t.equal(seen.organizations.length, 1)
})

t.test('who is nowhere is where one may be: an open project first, then the lowest number', async (t) => {
  const world = await openWorld(t)
  const place = async (key: string) => {
    const { organization, team } = jsonOf(await world.get(path, key))
    const found = await world.get('/api/projects/@current/', key)
    t.equal(jsonOf(found).id, team?.id)
    return [organization?.id ?? null, team?.id ?? null]
  }
  await world.postgres.query(
    `insert into project (id, uuid, organization_id, api_token, access_control)
     values (14, gen_random_uuid(), $1, 'phc_14', true), (15, gen_random_uuid(), $1, 'phc_15', false)`,
    [ids.ours],
  )
  t.equal((await world.get('/api/projects/1/', 'phx_owner', 'DELETE')).status, 204)
  t.strictSame(await place('phx_member'), [ids.ours, 2])
  await world.postgres.query('update project set access_control = true where id = 2')
  t.strictSame(await place('phx_member'), [ids.ours, 15])
  t.strictSame(await place('phx_owner'), [ids.ours, 15])
  t.equal((await world.get('/api/projects/15/', 'phx_owner', 'DELETE')).status, 204)
  t.strictSame(await place('phx_member'), [ids.ours, null])
  t.strictSame(await place('phx_owner'), [ids.ours, 2])
  t.equal((await world.get(`/api/organizations/${ids.ours}/projects/@current/`, 'phx_owner')).status, 200)

  t.equal((await world.send('PATCH', path, { set_current_organization: ids.ours }, 'phx_owner')).status, 200)
  await world.send('POST', '/api/organizations/', { name: 'Elsewhere' })
  const elsewhere = await place('phx_owner')
  t.equal((await world.get(`/api/organizations/${elsewhere[0]}/`, 'phx_owner', 'DELETE')).status, 204)
  t.strictSame(await place('phx_owner'), [ids.ours, 2])
  await world.postgres.query('delete from membership where user_id = 1')
  await world.postgres.query('update app_user set current_organization_id = null where id = 1')
  t.strictSame(await place('phx_member'), [null, null])
})
