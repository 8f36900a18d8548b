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
