import t from 'tap'
import { addKey, openWorld } from '../api/world.ts'
import { addGroup } from './identities.ts'

t.test('shows the group of a type and a key', async (t) => {
  const world = await openWorld(t)
  await addGroup(world.postgres, { key: " o'hara ", typeIndex: 4, properties: '{"seats": 1.50}' })
  const query = new URLSearchParams({ group_type_index: '4', group_key: " o'hara " })
  const reply = await world.get(`/api/projects/1/groups/find/?${query}`)
  t.equal(reply.status, 200)
  t.match(reply.text, /"group_properties":\{"seats": 1\.50\}/)
  t.strictSame(JSON.parse(reply.text), {
    group_type_index: 4,
    group_key: " o'hara ",
    created_at: '2024-05-01T00:00:00Z',
    group_properties: { seats: 1.5 },
  })
})

t.test('knows no group of another type, key or project', async (t) => {
  const world = await openWorld(t)
  await addGroup(world.postgres, { key: 'a' })
  await addGroup(world.postgres, { key: 'b', projectId: 2 })
  await addGroup(world.postgres, { key: 'c', projectId: 3 })
  const paths = [
    '1/groups/find/?group_type_index=1&group_key=a',
    '1/groups/find/?group_type_index=0&group_key=A',
    '1/groups/find/?group_type_index=0&group_key=b',
    '3/groups/find/?group_type_index=0&group_key=c',
  ]
  for (const path of paths) {
    const reply = await world.get(`/api/projects/${path}`)
    t.equal(reply.status, 404, path)
    t.match(JSON.parse(reply.text), { type: 'invalid_request', code: 'not_found' })
  }
})

t.test('refuses what cannot be a key', async (t) => {
  const world = await openWorld(t)
  const find = '/api/projects/1/groups/find/?group_type_index=0'
  const missing = await world.get(find)
  t.equal(missing.status, 400)
  t.match(JSON.parse(missing.text), { code: 'required', attr: 'group_key' })
  const nul = await world.get(`${find}&group_key=%00`)
  t.equal(nul.status, 400)
  t.match(JSON.parse(nul.text), { code: 'invalid_input', attr: 'group_key' })
})

t.test('wants the scope group:read', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['group:write'] })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['person:read'] })
  await addGroup(world.postgres, { key: 'a' })
  const path = '/api/projects/1/groups/find/?group_type_index=0&group_key=a'
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  t.equal((await world.get(path, 'phx_other')).status, 403)
})
