import t from 'tap'
import { addKey, openWorld, type World } from '../api/world.ts'
import { addGroup } from './identities.ts'

async function listed(world: World, query: Record<string, string>): Promise<string[]> {
  const reply = await world.get(`/api/projects/1/groups/?${new URLSearchParams(query)}`)
  return JSON.parse(reply.text).results.map((one: { group_key: string }) => one.group_key)
}

t.test('lists the groups of a type, newest first', async (t) => {
  const world = await openWorld(t)
  await addGroup(world.postgres, { key: 'old "inc"', properties: '{"seats": 1.50}' })
  await addGroup(world.postgres, { key: 'new', createdAt: '2024-05-02T00:00:00Z' })
  await addGroup(world.postgres, { key: 'other type', typeIndex: 1 })
  await addGroup(world.postgres, { key: 'other project', projectId: 2 })
  const reply = await world.get('/api/projects/1/groups/?group_type_index=0')
  t.equal(reply.status, 200)
  t.match(reply.text, /"group_properties":\{"seats": 1\.50\}/)
  t.strictSame(JSON.parse(reply.text), {
    count: 2,
    next: null,
    previous: null,
    results: [
      { group_type_index: 0, group_key: 'new', created_at: '2024-05-02T00:00:00Z', group_properties: {} },
      {
        group_type_index: 0,
        group_key: 'old "inc"',
        created_at: '2024-05-01T00:00:00Z',
        group_properties: { seats: 1.5 },
      },
    ],
  })
})

t.test('searches keys and names without case and without wildcards', async (t) => {
  const world = await openWorld(t)
  await addGroup(world.postgres, { key: 'a_1' })
  await addGroup(world.postgres, { key: 'b', properties: '{"name": "ACME 5%", "email": "a_1"}' })
  t.strictSame(await listed(world, { group_type_index: '0', search: 'acme' }), ['b'])
  t.strictSame(await listed(world, { group_type_index: '0', search: 'A_' }), ['a_1'])
  t.strictSame(await listed(world, { group_type_index: '0', search: '%' }), ['b'])
  t.strictSame(await listed(world, { group_type_index: '0', search: "'" }), [])
})

t.test('lists in pages', async (t) => {
  const world = await openWorld(t)
  for (const key of ['a', 'b', 'c']) await addGroup(world.postgres, { key })
  const path = '/api/projects/1/groups/?group_type_index=0&limit=1'
  const reply = JSON.parse((await world.get(`${path}&offset=1`)).text)
  t.equal(reply.count, 3)
  t.equal(reply.results[0].group_key, 'b')
  t.equal(reply.next, 'https://spate.example/api/projects/1/groups/?group_type_index=0&limit=1&offset=2')
  t.equal(reply.previous, 'https://spate.example/api/projects/1/groups/?group_type_index=0&limit=1')
})

t.test('wants a type index', async (t) => {
  const world = await openWorld(t)
  const refused: [query: string, code: string][] = [
    ['', 'required'],
    ['?group_type_index=x', 'invalid_input'],
    ['?group_type_index=5', 'max_value'],
    ['?group_type_index=-1', 'min_value'],
  ]
  for (const [query, code] of refused) {
    const reply = await world.get(`/api/projects/1/groups/${query}`)
    t.equal(reply.status, 400)
    t.match(JSON.parse(reply.text), { type: 'validation_error', code, attr: 'group_type_index' })
  }
})

t.test('lists for keys of the scope group:read, and only their own projects', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['group:read'] })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['person:read'] })
  const path = (project: number) => `/api/projects/${project}/groups/?group_type_index=0`
  t.equal((await world.get(path(1), 'phx_reader')).status, 200)
  t.equal((await world.get(path(1), 'phx_other')).status, 403)
  t.equal((await world.get(path(3), 'phx_reader')).status, 404)
})
