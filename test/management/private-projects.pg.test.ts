import t from 'tap'
import { addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'

const organization = `/api/organizations/${ids.ours}/`
const nowhere = {
  status: 404,
  text: '{"type":"invalid_request","code":"not_found","detail":"Project not found.","attr":null}',
}
const insufficient = {
  status: 403,
  text: JSON.stringify({
    type: 'authentication_error',
    code: 'permission_denied',
    detail: 'Your project access level is insufficient.',
    attr: null,
  }),
}

async function openPrivateWorld(t: Parameters<typeof openWorld>[0]): Promise<World> {
  const world = await openWorld(t)
  await world.postgres.query(`update project set access_control = true, name = 'Private' where id = 1`)
  return world
}

/** Ids of projects as lists show them to a key. */
async function listed(world: World, key: string): Promise<object> {
  const idsIn = (rows: { id: number }[]): number[] => rows.map(({ id }) => id)
  const shown = jsonOf(await world.get(organization, key))
  const below = jsonOf(await world.get(`${organization}projects/`, key))
  const all = jsonOf(await world.get('/api/projects/', key))
  const usage = jsonOf(await world.get(`${organization}usage/`, key))
  return {
    teams: idsIn(shown.teams),
    projects: idsIn(shown.projects),
    below: [below.count, ...idsIn(below.results)],
    all: [all.count, ...idsIn(all.results)],
    usage: idsIn(usage.projects),
  }
}

t.test('a private project does not exist for a member, and does for who administers', async (t) => {
  const world = await openPrivateWorld(t)
  const second = { teams: [2], projects: [2], below: [1, 2], all: [1, 2], usage: [2] }
  const both = { teams: [1, 2], projects: [1, 2], below: [2, 1, 2], all: [2, 1, 2], usage: [1, 2] }
  t.strictSame(await listed(world, 'phx_member'), second)
  t.strictSame(await listed(world, 'phx_administrator'), both)
  t.strictSame(await listed(world, 'phx_owner'), both)
  for (const path of ['/api/projects/1/', '/api/projects/1/feature_flags/']) {
    t.match(await world.get(path), nowhere, path)
  }
  t.match(await world.get(`${organization}projects/1/`), {
    status: 404,
    text: '{"type":"invalid_request","code":"not_found","detail":"Not found.","attr":null}',
  })
  for (const path of ['/api/projects/@current/', `${organization}projects/@current/`]) {
    t.match(jsonOf(await world.get(path)), { id: 2 })
    t.match(jsonOf(await world.get(path, 'phx_owner')), { id: 1 })
  }
  t.match(await world.send('PATCH', '/api/projects/1/', { name: 'Mine' }, 'phx_member'), nowhere)
  const { rows } = await world.postgres.query('select name from project where id = 1')
  t.same(rows, [{ name: 'Private' }])
  t.match(jsonOf(await world.get('/api/projects/1/', 'phx_administrator')), { effective_membership_level: 8 })
  t.match(jsonOf(await world.get('/api/projects/1/', 'phx_owner')), { effective_membership_level: 15 })
})

t.test('a level in a private project opens it, and counts there only', async (t) => {
  const world = await openPrivateWorld(t)
  const level = async (project: number) =>
    jsonOf(await world.get(`/api/projects/${project}/`)).effective_membership_level
  await world.postgres.query('insert into project_access values (1, 1, 1, now()), (2, 1, 8, now())')
  t.strictSame(await listed(world, 'phx_member'), await listed(world, 'phx_owner'))
  t.same([await level(1), await level(2)], [1, 1])
  await world.postgres.query('update project_access set level = 8')
  t.same([await level(1), await level(2)], [8, 1])
  t.equal(jsonOf(await world.get(organization)).membership_level, 1)
  t.match(await world.get('/api/projects/1/', 'phx_member', 'DELETE'), { status: 403 })
})

t.test('only administrators of a project say who may enter', async (t) => {
  const world = await openWorld(t)
  const patch = (body: object, key = 'phx_member') => world.send('PATCH', '/api/projects/1/', body, key)
  t.match(await patch({ access_control: true, name: 'Other' }), insufficient)
  t.match(
    await world.send('PUT', `${organization}projects/1/`, { access_control: true }, 'phx_member'),
    insufficient,
  )
  const { rows } = await world.postgres.query('select name, access_control from project where id = 1')
  t.same(rows, [{ name: 'Default project', access_control: false }])
  t.match(await patch({ access_control: false, name: 'Other' }), { status: 200 })
  t.match(jsonOf(await patch({ access_control: true }, 'phx_administrator')), { access_control: true })
  t.match(await patch({ access_control: false }), nowhere)
  await world.postgres.query('insert into project_access values (1, 1, 1, now())')
  t.match(await patch({ access_control: false }), insufficient)
  await world.postgres.query('update project_access set level = 8')
  t.match(jsonOf(await patch({ access_control: false })), {
    access_control: false,
    effective_membership_level: 1,
  })
})

t.test('only administrators of a project say how much it stores', async (t) => {
  const world = await openWorld(t)
  const patch = (quota: unknown, key: string) =>
    world.send('PATCH', '/api/projects/1/', { monthly_event_quota: quota }, key)
  t.match(await patch(5, 'phx_member'), insufficient)
  t.match(await patch(null, 'phx_member'), { status: 200 })
  for (const quota of [0, 1_000_000_000_000_000, null]) {
    t.equal(jsonOf(await patch(quota, 'phx_administrator')).monthly_event_quota, quota)
    const { rows } = await world.postgres.query('select monthly_event_quota from project where id = 1')
    t.same(rows, [{ monthly_event_quota: quota }])
  }
  const { results } = jsonOf(await world.get(`${organization}activity/?scope=Project`))
  const told = results.flatMap((one: { detail: { changes: object[] } }) => one.detail.changes)
  t.equal(told.length, 3)
  t.match(JSON.stringify(told), '{"after":0,"field":"monthly_event_quota","before":null}')
})

t.test('an administrator makes a project that is private from its first moment', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send(
    'POST',
    `${organization}projects/`,
    { name: 'P', access_control: true },
    'phx_administrator',
  )
  t.equal(reply.status, 201)
  t.match(jsonOf(reply), { id: 4, access_control: true, effective_membership_level: 8 })
  t.match(await world.get('/api/projects/4/'), nowhere)
  t.equal((await world.get('/api/projects/4/', 'phx_owner')).status, 200)
})

t.test('nobody is taken to a project that is closed to them, and a key cannot name it', async (t) => {
  const world = await openPrivateWorld(t)
  t.match(jsonOf(await world.get('/api/users/@me/')), { team: { id: 2 }, organization: { id: ids.ours } })
  t.match(await world.send('PATCH', '/api/users/@me/', { set_current_team: 1 }, 'phx_member'), {
    status: 400,
    text: JSON.stringify({
      type: 'validation_error',
      code: 'does_not_exist',
      detail: 'Invalid pk "1" - object does not exist.',
      attr: 'set_current_team',
    }),
  })
  const moved = { set_current_organization: ids.ours }
  t.match(jsonOf(await world.send('PATCH', '/api/users/@me/', moved, 'phx_member')), { team: { id: 2 } })
  const key = { label: 'x', scopes: ['*'], scoped_teams: [1] }
  t.match(await world.send('POST', '/api/personal_api_keys/', key, 'phx_member'), {
    status: 400,
    text: /"attr":"scoped_teams"/,
  })
  // A key of before says no more than any other.
  await addKey(world.postgres, 'phx_limited', 1, { projects: [1] })
  t.match(await world.get('/api/projects/1/', 'phx_limited'), nowhere)
  t.match(jsonOf(await world.get('/api/projects/', 'phx_limited')), { count: 0 })
})

t.test('what happens in a private project is told to those who may enter', async (t) => {
  const world = await openWorld(t)
  await world.send('POST', '/api/projects/1/feature_flags/', { key: 'secret-plan' })
  await world.send('PATCH', organization, { name: 'Renamed' })
  const scopes = async (key: string): Promise<string[]> =>
    jsonOf(await world.get(`${organization}activity/`, key))
      .results.map((one: { scope: string }) => one.scope)
      .sort()
  t.strictSame(await scopes('phx_member'), ['FeatureFlag', 'Organization'])
  await world.send('PATCH', '/api/projects/1/', { access_control: true })
  t.strictSame(await scopes('phx_member'), ['Organization'])
  t.strictSame(await scopes('phx_owner'), ['FeatureFlag', 'Organization', 'Project'])
  await world.postgres.query('insert into project_access values (1, 1, 1, now())')
  t.strictSame(await scopes('phx_member'), ['FeatureFlag', 'Organization', 'Project'])
})

t.test('a batch export goes to a project one may enter, and those of others are not there', async (t) => {
  const world = await openPrivateWorld(t)
  const path = `${organization}batch_exports/`
  const body = { name: 'x', interval: 'hour', destination: { type: 'NoOp', config: {} } }
  const theirs = jsonOf(await world.send('POST', path, { ...body, token: 'phc_1' }))
  t.equal(theirs.team_id, 1)
  t.match(jsonOf(await world.get(path)), { count: 0 })
  t.equal((await world.get(`${path}${theirs.id}/`)).status, 404)
  t.match(await world.send('POST', path, { ...body, token: 'phc_1' }, 'phx_member'), { status: 400 })
  t.match(jsonOf(await world.send('POST', path, body, 'phx_member')), { team_id: 2 })
})

t.test('a level in a project ends with the membership', async (t) => {
  const world = await openPrivateWorld(t)
  const { rows } = await world.postgres.query<{ uuid: string }>(
    'select uuid from app_user where id < 3 order by id',
  )
  await world.postgres.query(
    'insert into project_access values (1, 1, 1, now()), (2, 1, 8, now()), (3, 1, 8, now()), (1, 2, 8, now())',
  )
  t.equal((await world.get(`${organization}members/@me/`, 'phx_administrator', 'DELETE')).status, 204)
  t.equal((await world.get(`${organization}members/${rows[0]?.uuid}/`, 'phx_owner', 'DELETE')).status, 204)
  const left = await world.postgres.query('select project_id, user_id from project_access')
  t.same(left.rows, [{ project_id: 3, user_id: 1 }])
})

t.test('an invite names a private project only to those who may enter', async (t) => {
  const world = await openPrivateWorld(t)
  const path = `${organization}invites/`
  const access = [
    { id: 1, level: 8 },
    { id: 2, level: 1 },
  ]
  const invited = { target_email: 'a@example.com', private_project_access: access }
  t.match(jsonOf(await world.send('POST', path, invited)), { private_project_access: access })
  const shown = async (key: string) => jsonOf(await world.get(path, key)).results[0].private_project_access
  t.strictSame(await shown('phx_owner'), access)
  t.strictSame(await shown('phx_member'), [{ id: 2, level: 1 }])
  const combine = { target_email: 'a@example.com', combine_pending_invites: true }
  const combined = await world.send('POST', path, combine, 'phx_member')
  t.strictSame(jsonOf(combined).private_project_access, [{ id: 2, level: 1 }])
  t.strictSame(await shown('phx_administrator'), [
    { id: 1, level: 8 },
    { id: 2, level: 1 },
  ])
})
