import t from 'tap'
import { changesBetween } from '../../src/management/activity.ts'
import { ids, jsonOf, openWorld } from '../api/world.ts'

t.test('tells who changed what, newest first', async (t) => {
  const world = await openWorld(t)
  const path = `/api/organizations/${ids.ours}/`
  await world.send('PATCH', path, { name: 'First' }, 'phx_administrator')
  world.clock.ms += 1000
  await world.send('PATCH', path, { name: 'Second', enforce_2fa: true })
  await world.send('PATCH', path, { name: 'Second' })
  await world.send('PATCH', path, { name: '' })
  const reply = jsonOf(await world.get(`${path}activity/`))
  t.equal(reply.count, 2)
  const [second, first] = reply.results
  t.strictSame(Object.keys(second), ['id', 'user', 'activity', 'scope', 'item_id', 'detail', 'created_at'])
  t.match(second, {
    user: { id: 3, email: 'owner@spate.example', distinct_id: 'owner', hedgehog_config: null },
    activity: 'updated',
    scope: 'Organization',
    item_id: ids.ours,
    created_at: '2024-05-01T12:00:01Z',
  })
  t.strictSame(second.detail, {
    changes: [
      { field: 'name', after: 'Second', before: 'First' },
      { field: 'enforce_2fa', after: true, before: null },
    ],
  })
  t.match(first, { user: { email: 'administrator@spate.example' }, created_at: '2024-05-01T12:00:00Z' })
  const { rows } = await world.postgres.query('select key_id, address from organization_activity order by id')
  t.same(rows[0], { key_id: 'phx_administrator', address: '127.0.0.1' })
})

t.test('filters by kind, thing and user, and shows none of others', async (t) => {
  const world = await openWorld(t)
  const path = `/api/organizations/${ids.ours}/`
  await world.send('PATCH', path, { name: 'Renamed' })
  await world.send('PATCH', `/api/organizations/${ids.theirs}/`, { name: 'Theirs too' }, 'phx_stranger')
  const count = async (query: string) => jsonOf(await world.get(`${path}activity/?${query}`)).count
  const { user } = jsonOf(await world.get(`${path}activity/`)).results[0]
  t.equal(await count(''), 1)
  t.equal(await count(`scope=Organization&item_id=${ids.ours}&user=${user.uuid}`), 1)
  t.equal(await count('scope=Project'), 0)
  t.equal(await count(`item_id=${ids.theirs}`), 0)
  t.equal(await count(`user=${ids.ours}`), 0)
  t.equal((await world.get(`${path}activity/?user=x`)).status, 400)
  t.equal((await world.get(`/api/organizations/${ids.theirs}/activity/`)).status, 403)
})

t.test('masks secrets and names what is long', async (t) => {
  const before = { secret: null, text: 'a', same: [1] }
  const after = { secret: 'phx_secret', text: 'b'.repeat(10_001), same: [1], unlisted: 1 }
  t.strictSame(changesBetween(before, after, ['secret', 'text', 'same'], ['secret']), [
    { field: 'secret', before: null, after: '********' },
    { field: 'text', before: 'a', after: '(10003 characters)' },
  ])
})
