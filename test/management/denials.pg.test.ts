import t from 'tap'
import { addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'

const activity = `/api/organizations/${ids.ours}/activity/`

async function denied(world: World) {
  const { results } = jsonOf(await world.get(`${activity}?scope=Request&limit=1000`, 'phx_owner'))
  return results
}

t.test('an attempt at what one may not do is in the audit log, with who it was', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reads', 1, { scopes: ['query:read'] })
  await world.send('PATCH', `/api/organizations/${ids.ours}/`, { name: 'Mine' }, 'phx_member')
  await world.send('POST', '/api/organizations/@current/projects/', {}, 'phx_reads')
  await world.get('/api/projects/1/persons/', 'phx_reads')
  await world.get(`/api/organizations/${ids.ours}/members/`, 'phx_stranger')
  const found = await denied(world)
  t.equal(found.length, 4)
  const told = new Map<string, object>(found.map((one: { item_id: string }) => [one.item_id, one]))
  t.match(told.get('PATCH /api/organizations/:id'), {
    user: { email: 'member@spate.example' },
    activity: 'denied',
    detail: {
      changes: [{ field: 'detail', before: null, after: 'Your organization access level is insufficient.' }],
    },
  })
  t.match(told.get('POST /api/organizations/:organization_id/projects'), {
    detail: { changes: [{ after: "API key missing required scope 'project:write'" }] },
  })
  t.match(told.get('GET /api/projects/:project_id/persons'), { user: { id: 1 } })
  // Who works for others is not shown to us, but stored.
  t.match(told.get('GET /api/organizations/:organization_id/members'), { user: null })
  const { rows } = await world.postgres.query(
    `select user_id, key_id, address from organization_activity where user_id = 4`,
  )
  t.same(rows, [{ user_id: 4, key_id: 'phx_stranger', address: '127.0.0.1' }])
})

t.test(
  'nothing is noted of what is not found, nor in the log of a project closed to the caller',
  async (t) => {
    const world = await openWorld(t)
    await addKey(world.postgres, 'phx_reads', 1, { scopes: ['query:read'] })
    await world.get(`/api/organizations/${ids.nobodys}/members/`, 'phx_member')
    await world.get('/api/projects/3/persons/', 'phx_member')
    await world.get('/api/projects/3/persons/', 'phx_reads')
    await world.get('/api/projects/%00/persons/', 'phx_reads')
    await world.get('/api/organizations/%00/members/', 'phx_reads')
    const { rows } = await world.postgres.query('select from organization_activity')
    t.equal(rows.length, 0)
  },
)

t.test('who tries without end fills neither the log nor the disk', async (t) => {
  const world = await openWorld(t)
  const attempt = (key: string) => world.get(`/api/organizations/${ids.ours}/members/`, key)
  for (let times = 0; times < 32; times++) t.equal((await attempt('phx_stranger')).status, 403)
  t.equal((await denied(world)).length, 30)
  for (let user = 10; user < 13; user++) {
    await world.postgres.query(
      `insert into app_user (id, uuid, distinct_id, email) overriding system value
       values ($1::integer, gen_random_uuid(), $1::text, $1::text || '@spate.example')`,
      [user],
    )
    await addKey(world.postgres, `phx_user_${user}`, user)
    for (let times = 0; times < 30; times++) await attempt(`phx_user_${user}`)
  }
  t.equal((await denied(world)).length, 100)
  world.clock.ms += 3_600_000
  await attempt('phx_stranger')
  t.equal((await denied(world)).length, 101)
})
