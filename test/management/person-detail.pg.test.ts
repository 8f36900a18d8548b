import t from 'tap'
import { addKey, openWorld } from '../api/world.ts'
import { addPerson, personUuid } from './identities.ts'

t.test('shows one person', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1, distinctIds: ['b', 'a'], properties: '{"n": 1.50}' })
  await addPerson(world.postgres, { number: 2 })
  const reply = await world.get(`/api/projects/1/persons/${personUuid(1).toUpperCase()}/`)
  t.equal(reply.status, 200)
  t.match(reply.text, /"properties":\{"n": 1\.50\}/)
  t.strictSame(JSON.parse(reply.text), {
    id: '0191e9ce-9a87-5000-8000-000000000001',
    uuid: '0191e9ce-9a87-5000-8000-000000000001',
    name: 'a',
    distinct_ids: ['a', 'b'],
    properties: { n: 1.5 },
    created_at: '2024-05-01T00:00:00Z',
    is_identified: false,
  })
})

t.test('knows no person of another project, and no id that is none', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1, projectId: 2 })
  await addPerson(world.postgres, { number: 2, projectId: 3 })
  const paths = [
    `/api/projects/1/persons/${personUuid(1)}/`,
    `/api/projects/1/persons/${personUuid(9)}/`,
    `/api/projects/3/persons/${personUuid(2)}/`,
    '/api/projects/1/persons/%27%00/',
    '/api/projects/1/persons/1/',
  ]
  for (const path of paths) {
    const reply = await world.get(path)
    t.equal(reply.status, 404, path)
    t.match(JSON.parse(reply.text), { type: 'invalid_request', code: 'not_found', attr: null })
  }
})

t.test('wants the scope person:read', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['person:read'] })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['group:read'] })
  await addPerson(world.postgres, { number: 1 })
  const path = `/api/projects/1/persons/${personUuid(1)}/`
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  t.equal((await world.get(path, 'phx_other')).status, 403)
})
