import t from 'tap'
import { addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'
import { until } from '../support/until.ts'

const path = `/api/organizations/${ids.ours}/members/`

async function uuidsOf(world: World): Promise<Record<string, string>> {
  const { rows } = await world.postgres.query<{ distinct_id: string; uuid: string }>(
    'select distinct_id, uuid from app_user',
  )
  return Object.fromEntries(rows.map((row) => [row.distinct_id, row.uuid]))
}

async function levelsOf(world: World): Promise<object> {
  const { rows } = await world.postgres.query<{ user_id: number; level: number }>(
    'select user_id, level from membership where organization_id = $1 order by user_id',
    [ids.ours],
  )
  return Object.fromEntries(rows.map((row) => [row.user_id, row.level]))
}

t.test('lists active members, by first name', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(`update app_user set first_name = 'Zoe' where id = 1`)
  await world.postgres.query('update app_user set is_active = false where id = 2')
  await world.postgres.query(`update personal_api_key set last_used_at = '2024-04-01T00:00:00Z'`)
  const { count, results } = jsonOf(await world.get(path, 'phx_owner'))
  t.equal(count, 2)
  t.strictSame(
    results.map((one: { user: { distinct_id: string } }) => one.user.distinct_id),
    ['owner', 'member'],
  )
  const { id, joined_at, updated_at, last_login, user, ...rest } = results[1]
  t.strictSame(rest, { level: 1, is_2fa_enabled: false, has_social_auth: false })
  t.equal(last_login, '2024-04-01T00:00:00Z')
  t.match({ id, joined_at, updated_at }, { id: /^[0-9a-f-]{36}$/, joined_at: /Z$/, updated_at: /Z$/ })
  t.match(user, {
    id: 1,
    distinct_id: 'member',
    first_name: 'Zoe',
    last_name: '',
    email: 'member@spate.example',
    is_email_verified: null,
    hedgehog_config: null,
    role_at_organization: null,
  })
  const found = await world.get(`${path}?email=Owner@spate.example`, 'phx_owner')
  t.match(jsonOf(found), { count: 1, results: [{ level: 15 }] })
  t.match(jsonOf(await world.get(`${path}?email=stranger@spate.example`, 'phx_owner')), { count: 0 })
})

t.test('lists who joins while it changes its name by the new one', async (t) => {
  const { postgres } = await openWorld(t)
  const join = `insert into membership (id, organization_id, user_id, level, joined_at, updated_at)
    select gen_random_uuid(), $1, id, 1, now(), now() from app_user where distinct_id = 'stranger'`
  let joined: Promise<unknown> = Promise.resolve()
  await postgres.transaction(async (session) => {
    await session.query(`update app_user set first_name = 'Ada' where distinct_id = 'stranger'`)
    joined = postgres.query(join, [ids.ours])
    await until(async () => (await postgres.query('select from pg_locks where not granted')).rowCount > 0)
  })
  await joined
  const { rows } = await postgres.query(
    `select user_first_name, user_is_active from membership join app_user on app_user.id = user_id
     where organization_id = $1 and distinct_id = 'stranger'`,
    [ids.ours],
  )
  t.same(rows, [{ user_first_name: 'Ada', user_is_active: true }])
})

t.test('is closed to others, whatever the method', async (t) => {
  const world = await openWorld(t)
  const uuids = await uuidsOf(world)
  for (const [method, key] of [
    ['GET', 'phx_stranger'],
    ['PATCH', 'phx_stranger'],
    ['DELETE', 'phx_stranger'],
  ] as const) {
    const reply = await world.get(`${path}${uuids.member}/`, key, method)
    t.match(reply, { status: 403, text: /"detail":"You do not have permission to perform this action\."/ })
  }
  t.equal((await world.get(path, 'phx_stranger')).status, 403)
  t.equal((await world.get(`${path}${uuids.member}/`, 'phx_member')).status, 405)
  t.strictSame(await levelsOf(world), { 1: 1, 2: 8, 3: 15 })
})

t.test('changes levels as far as one may', async (t) => {
  const world = await openWorld(t)
  const uuids = await uuidsOf(world)
  const cases: [key: string, target: string, level: unknown, status: number, detail?: RegExp][] = [
    ['phx_member', 'administrator', 1, 403, /You can only edit others if you are an admin\./],
    ['phx_member', 'member', 8, 403, /You can't change your own access level\./],
    ['phx_owner', '@me', 8, 403, /You can't change your own access level\./],
    ['phx_administrator', 'owner', 1, 403, /You can only edit others with level lower or equal to you\./],
    [
      'phx_administrator',
      'member',
      15,
      403,
      /only make another member owner if you're this organization's owner/,
    ],
    ['phx_owner', 'member', 5, 400, /"code":"invalid_choice".*"attr":"level"/],
    ['phx_owner', 'member', null, 400, /"code":"null".*"attr":"level"/],
    ['phx_owner', 'stranger', 1, 404],
    ['phx_owner', 'x', 1, 404],
  ]
  for (const [key, target, level, status, detail = /./] of cases) {
    const reply = await world.send('PATCH', `${path}${uuids[target] ?? target}/`, { level }, key)
    t.match(reply, { status, text: detail }, `${key} ${target} ${level}`)
  }
  t.strictSame(await levelsOf(world), { 1: 1, 2: 8, 3: 15 })
  const promoted = await world.send('PATCH', `${path}${uuids.member}/`, { level: 8 }, 'phx_administrator')
  t.match(jsonOf(promoted), { level: 8, user: { distinct_id: 'member' }, updated_at: '2024-05-01T12:00:00Z' })
  t.equal((await world.send('PUT', `${path}${uuids.member}/`, {})).status, 400)
  t.equal((await world.send('PUT', `${path}${uuids.member}/`, { level: 15 })).status, 200)
  t.strictSame(await levelsOf(world), { 1: 15, 2: 8, 3: 15 })
  world.clock.ms += 1
  t.equal((await world.send('PATCH', `${path}${uuids.member}/`, { level: 8 })).status, 200)
  const log = jsonOf(await world.get(`/api/organizations/${ids.ours}/activity/?scope=OrganizationMember`))
  t.match(log, { count: 3, results: [{ detail: { changes: [{ field: 'level', before: 15, after: 8 }] } }] })
})

t.test('lets go who may go', async (t) => {
  const world = await openWorld(t)
  const uuids = await uuidsOf(world)
  const remove = (target: string, key: string) =>
    world.get(`${path}${uuids[target] ?? target}/`, key, 'DELETE')
  t.match(await remove('administrator', 'phx_member'), { status: 403 })
  t.match(await remove('owner', 'phx_administrator'), { status: 403 })
  const leaving = { status: 400, text: /"detail":"Cannot leave the organization as its owner!","attr":null/ }
  t.match(await remove('@me', 'phx_owner'), leaving)
  t.match(await remove('stranger', 'phx_owner'), { status: 404 })
  t.strictSame(await levelsOf(world), { 1: 1, 2: 8, 3: 15 })
  t.match(await remove('@me', 'phx_member'), { status: 204, text: '' })
  t.match(await world.get(path, 'phx_member'), { status: 403 })
  t.match(await world.get('/api/projects/1/', 'phx_member'), { status: 404 })
  t.match(await remove('administrator', 'phx_owner'), { status: 204 })
  t.strictSame(await levelsOf(world), { 3: 15 })
  const { rows } = await world.postgres.query('select count(*) from app_user where current_project_id = 1')
  t.same(rows, [{ count: 1 }])
})

t.test("tells an administrator which of a member's keys open the organization", async (t) => {
  const world = await openWorld(t)
  const uuids = await uuidsOf(world)
  await addKey(world.postgres, 'phx_elsewhere', 1, { organizations: [ids.theirs] })
  await addKey(world.postgres, 'phx_theirs', 1, { projects: [3] })
  await addKey(world.postgres, 'phx_ended', 1, { expiresAt: '2024-05-01T00:00:00Z' })
  const ask = async () => jsonOf(await world.get(`${path}${uuids.member}/scoped_api_keys/`, 'phx_owner'))
  t.strictSame(await ask(), {
    has_keys: true,
    has_keys_active_last_week: false,
    keys: [{ name: 'test', last_used_at: null }],
  })
  await world.postgres.query(`update personal_api_key set last_used_at = '2024-04-30T00:00:00Z'`)
  t.match(await ask(), { has_keys_active_last_week: true, keys: [{ last_used_at: '2024-04-30T00:00:00Z' }] })
  t.equal((await world.get(`${path}${uuids.owner}/scoped_api_keys/`, 'phx_member')).status, 403)
})
