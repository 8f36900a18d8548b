import t from 'tap'
import { addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'

const path = '/api/personal_api_keys/'

async function toldIn(world: World, organization: string, key: string) {
  const reply = await world.get(`/api/organizations/${organization}/activity/?scope=PersonalAPIKey`, key)
  return jsonOf(reply).results
}

t.test('tells what becomes of a key to the organizations it opens', async (t) => {
  const world = await openWorld(t)
  const limits = { scoped_organizations: [ids.ours], scopes: ['project:read'] }
  const { id, mask_value } = jsonOf(await world.send('POST', path, { label: 'Mine', ...limits }))
  for (const [method, at, body] of [
    ['PATCH', `${id}/`, { label: 'Still mine' }],
    ['PATCH', `${id}/`, { label: 'Still mine' }],
    ['POST', `${id}/roll/`, {}],
    ['DELETE', `${id}/`, {}],
  ] as const) {
    world.clock.ms += 1000
    await world.send(method, path + at, body)
  }
  const told = await toldIn(world, ids.ours, 'phx_owner')
  t.strictSame(
    told.map((one: { activity: string; item_id: string }) => [one.activity, one.item_id]),
    [
      ['deleted', id],
      ['rolled', id],
      ['updated', id],
      ['created', id],
    ],
  )
  t.match(told[0], { user: { email: 'owner@spate.example' } })
  t.strictSame(told[2].detail.changes, [{ field: 'label', after: 'Still mine', before: 'Mine' }])
  t.strictSame(told[3].detail.changes, [
    { field: 'label', after: 'Mine', before: null },
    { field: 'mask_value', after: mask_value, before: null },
    { field: 'scopes', after: ['project:read'], before: null },
    { field: 'scoped_organizations', after: '********', before: null },
    { field: 'scoped_teams', after: '********', before: null },
  ])
  t.strictSame(await toldIn(world, ids.theirs, 'phx_stranger'), [])
})

t.test('tells an organization that a key opens no more, and one of two by a project', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(
    `insert into membership (id, organization_id, user_id, level) values (gen_random_uuid(), $1, 3, 1)`,
    [ids.theirs],
  )
  await addKey(world.postgres, 'phx_other', 3)
  await world.send('PATCH', `${path}phx_other/`, { scoped_teams: [3] })
  t.equal((await toldIn(world, ids.ours, 'phx_owner')).length, 1)
  t.equal((await toldIn(world, ids.theirs, 'phx_stranger')).length, 1)
  await world.send('PATCH', `${path}phx_other/`, { label: 'Theirs' })
  t.equal((await toldIn(world, ids.ours, 'phx_owner')).length, 1)
  t.equal((await toldIn(world, ids.theirs, 'phx_stranger')).length, 2)
})
