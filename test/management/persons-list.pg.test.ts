import t from 'tap'
import { addKey, openWorld, type World } from '../api/world.ts'
import { addPerson, personUuid } from './identities.ts'

/** The numbers of the persons that `query` lists, in order. */
async function listed(world: World, query: Record<string, string>): Promise<number[]> {
  const reply = await world.get(`/api/projects/1/persons/?${new URLSearchParams(query)}`)
  const { count, results } = JSON.parse(reply.text)
  if (count !== results.length) throw new Error(`${count} counted, ${results.length} listed`)
  return results.map(({ uuid }: { uuid: string }) => Number(uuid.slice(-12)))
}

function filters(key: string, operator: string, value?: unknown): { properties: string } {
  return { properties: JSON.stringify([{ key, operator, value, type: 'person' }]) }
}

t.test('prints persons, newest first, their properties as they are stored', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1, properties: '{"n": 12345678901234567890.10}' })
  await addPerson(world.postgres, {
    number: 2,
    distinctIds: ['z', 'a "quoted" id'],
    properties: '{"email": "ada@example.com", "plan": {"seats": 3}}',
    createdAt: '2024-05-02T00:00:00.000001Z',
    isIdentified: true,
  })
  const reply = await world.get('/api/projects/1/persons/')
  t.equal(reply.status, 200)
  t.equal(reply.headers.get('content-type'), 'application/json')
  t.match(reply.text, /"properties":\{"n": 12345678901234567890\.10\},/)
  const { count, next, previous, results } = JSON.parse(reply.text)
  t.strictSame([count, next, previous, results.length], [2, null, null, 2])
  t.strictSame(results[0], {
    id: '0191e9ce-9a87-5000-8000-000000000002',
    uuid: '0191e9ce-9a87-5000-8000-000000000002',
    name: 'ada@example.com',
    distinct_ids: ['a "quoted" id', 'z'],
    properties: { email: 'ada@example.com', plan: { seats: 3 } },
    created_at: '2024-05-02T00:00:00.000001Z',
    is_identified: true,
  })
  t.match(results[1], { name: 'id-1', is_identified: false, created_at: '2024-05-01T00:00:00Z' })
})

t.test('names a person by the display properties of the project', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, {
    number: 1,
    properties: '{"email": "", "username": "ada", "$name": "Ada L"}',
  })
  const name = async () => JSON.parse((await world.get('/api/projects/1/persons/')).text).results[0].name
  t.equal(await name(), 'ada')
  await world.postgres.query(
    `update project set person_display_name_properties = '{missing,$name}' where id = 1`,
  )
  t.equal(await name(), 'Ada L')
  await world.postgres.query(`update project set person_display_name_properties = '{missing}' where id = 1`)
  t.equal(await name(), 'id-1')
})

t.test('lists in pages', async (t) => {
  const world = await openWorld(t)
  for (const number of [1, 2, 3]) await addPerson(world.postgres, { number })
  const reply = JSON.parse((await world.get('/api/projects/1/persons/?limit=1&offset=1')).text)
  t.equal(reply.count, 3)
  t.equal(reply.next, 'https://spate.example/api/projects/1/persons/?limit=1&offset=2')
  t.equal(reply.previous, 'https://spate.example/api/projects/1/persons/?limit=1')
  t.strictSame(
    reply.results.map((one: { uuid: string }) => one.uuid),
    [personUuid(2)],
  )
})

t.test('ends a page early when its properties are large, and goes on behind it', async (t) => {
  const world = await openWorld(t)
  for (const number of [1, 2, 3, 4])
    await addPerson(world.postgres, { number, propertiesBytes: 8 * 1024 * 1024 })
  const first = JSON.parse((await world.get('/api/projects/1/persons/?limit=3')).text)
  t.equal(first.count, 4)
  t.equal(first.results.length, 2)
  t.equal(first.next, 'https://spate.example/api/projects/1/persons/?limit=3&offset=2')
  const second = JSON.parse((await world.get('/api/projects/1/persons/?limit=3&offset=2')).text)
  t.equal(second.next, null)
  t.strictSame(
    second.results.map((one: { uuid: string }) => one.uuid),
    [personUuid(2), personUuid(1)],
  )
})

t.test('shows a hundred distinct_ids of a person', async (t) => {
  const world = await openWorld(t)
  const distinctIds = Array.from({ length: 101 }, (_, index) => `id-${String(index).padStart(3, '0')}`)
  await addPerson(world.postgres, { number: 1, distinctIds })
  const { results } = JSON.parse((await world.get('/api/projects/1/persons/')).text)
  t.equal(results[0].distinct_ids.length, 100)
  t.equal(results[0].distinct_ids[99], 'id-099')
  t.strictSame(await listed(world, { distinct_id: 'id-100' }), [1])
})

t.test('finds the person of a distinct_id, exactly', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1, distinctIds: ["o'hara", ' spaced '] })
  await addPerson(world.postgres, { number: 2, distinctIds: ['spaced'] })
  await addPerson(world.postgres, { number: 3, projectId: 2, distinctIds: ["o'hara"] })
  t.strictSame(await listed(world, { distinct_id: "o'hara" }), [1])
  t.strictSame(await listed(world, { distinct_id: ' spaced ' }), [1])
  t.strictSame(await listed(world, { distinct_id: 'spaced' }), [2])
  t.strictSame(await listed(world, { distinct_id: 'space' }), [])
  t.strictSame(await listed(world, { distinct_id: `' or true --` }), [])
  t.strictSame(await listed(world, { distinct_id: '' }), [2, 1])
})

t.test('searches emails, names and distinct_ids without case and without wildcards', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1, properties: '{"email": "Ada@Example.com"}' })
  await addPerson(world.postgres, { number: 2, properties: '{"name": "ÉMILE 100%", "other": "ada@"}' })
  await addPerson(world.postgres, { number: 3, distinctIds: ['x', 'under_score\\'] })
  await addPerson(world.postgres, { number: 4, projectId: 2, distinctIds: ['under_score\\'] })
  t.strictSame(await listed(world, { search: 'ada@' }), [1])
  t.strictSame(await listed(world, { search: 'émile' }), [2])
  t.strictSame(await listed(world, { search: 'mile' }), [2])
  t.strictSame(await listed(world, { search: 'ADA@' }), [1])
  t.strictSame(await listed(world, { search: '%' }), [2])
  t.strictSame(await listed(world, { search: '_' }), [3])
  t.strictSame(await listed(world, { search: 'SCORE\\' }), [3])
  t.strictSame(await listed(world, { search: "'" }), [])
  t.strictSame(await listed(world, { search: 'ID-', distinct_id: 'id-2' }), [2])
})

t.test('filters by properties', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1, properties: '{"plan": "Pro", "seats": 10, "beta": true}' })
  await addPerson(world.postgres, { number: 2, properties: '{"plan": "free", "seats": "9.50"}' })
  await addPerson(world.postgres, { number: 3, properties: '{"plan": null, "seats": "many"}' })
  const cases: [operator: string, key: string, value: unknown, expected: number[]][] = [
    ['exact', 'plan', 'Pro', [1]],
    ['exact', 'plan', 'pro', []],
    ['exact', 'plan', ['Pro', 'free'], [2, 1]],
    ['exact', 'plan', [], []],
    ['exact', 'plan', null, [3]],
    ['exact', 'beta', true, [1]],
    ['exact', 'seats', 9.5, [2]],
    ['is_not', 'plan', 'Pro', [3, 2]],
    ['is_not', 'plan', ['Pro', 'free'], [3]],
    ['icontains', 'plan', 'PR', [1]],
    ['icontains', 'plan', '%', []],
    ['not_icontains', 'plan', 'PR', [3, 2]],
    ['is_set', 'plan', undefined, [2, 1]],
    ['is_not_set', 'plan', undefined, [3]],
    ['is_not_set', 'beta', undefined, [3, 2]],
    ['gt', 'seats', 9.5, [1]],
    ['gt', 'seats', '9', [2, 1]],
    ['lt', 'seats', 'Infinity', [2, 1]],
    ['lt', 'seats', 10, [2]],
  ]
  for (const [operator, key, value, expected] of cases) {
    t.strictSame(await listed(world, filters(key, operator, value)), expected, `${key} ${operator} ${value}`)
  }
  const both = [
    { key: 'plan', value: ['Pro', 'free'] },
    { key: 'seats', operator: 'lt', value: 10 },
  ]
  t.strictSame(await listed(world, { properties: JSON.stringify(both) }), [2])
})

t.test('takes keys and values of any characters', async (t) => {
  const world = await openWorld(t)
  const keys = ['$browser', `it's "quoted"`, '{a,b}', 'a.b', '$1', '-- ;', '', '\ufffd']
  const properties = Object.fromEntries(keys.map((key) => [key, key]))
  await addPerson(world.postgres, { number: 1, properties: JSON.stringify(properties) })
  await addPerson(world.postgres, { number: 2 })
  for (const key of keys) {
    t.strictSame(await listed(world, filters(key, 'exact', key)), [1], key)
    t.strictSame(await listed(world, filters(key, 'is_set')), [1], key)
  }
  // A NUL is stored as a mark.
  t.strictSame(await listed(world, filters('\0', 'icontains', '\0')), [1])
  t.strictSame(await listed(world, filters('\0', 'exact', '\0')), [1])
})

t.test('refuses filters it cannot read, naming them', async (t) => {
  const world = await openWorld(t)
  const refused: [name: string, value: string][] = [
    ['distinct_id', '\0'],
    ['search', 'a\0b'],
    ['properties', '['],
    ['properties', '[{"key":"a","value":1,"type":"event"}]'],
    ['properties', '[{"key":"a","value":"(","operator":"regex"}]'],
    ['properties', '[{"key":"a","value":"many","operator":"gt"}]'],
    ['properties', '[{"key":"a","value":null,"operator":"icontains"}]'],
  ]
  for (const [name, value] of refused) {
    const reply = await world.get(`/api/projects/1/persons/?${new URLSearchParams({ [name]: value })}`)
    t.equal(reply.status, 400, value)
    t.match(JSON.parse(reply.text), { type: 'validation_error', code: 'invalid_input', attr: name })
  }
})

t.test('lists for keys of the scope person:read, and only their own projects', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['person:read'] })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['query:read', 'group:write'] })
  await addPerson(world.postgres, { number: 1, projectId: 2 })
  await addPerson(world.postgres, { number: 2, projectId: 3 })
  t.equal((await world.get('/api/projects/1/persons/', 'phx_reader')).status, 200)
  t.equal((await world.get('/api/projects/1/persons/', 'phx_other')).status, 403)
  t.equal((await world.get('/api/projects/1/persons/', '')).status, 401)
  t.equal((await world.get('/api/projects/3/persons/', 'phx_reader')).status, 404)
  t.strictSame(await listed(world, {}), [])
})
