import t from 'tap'
import { addKey, openWorld } from '../api/world.ts'
import { addPerson } from './identities.ts'

const path = '/api/projects/1/persons/explain/'

t.test('explains nobody where there is nothing', async (t) => {
  const world = await openWorld(t)
  const reply = await world.get(`${path}?distinct_id=%20who%20`)
  t.equal(reply.status, 200)
  t.strictSame(JSON.parse(reply.text), {
    distinct_id: ' who ',
    person: null,
    distinct_ids: [
      {
        distinct_id: ' who ',
        joined: null,
        event_count: 0,
        anonymous_event_count: 0,
        first_seen: null,
        last_seen: null,
      },
    ],
    merges: [],
    properties: [],
    warnings: [],
    first_event: null,
    last_event: null,
    notes: ['Nobody: no event has made a person of this distinct_id, or it was deleted.'],
  })
})

t.test('wants a distinct_id that can be one', async (t) => {
  const world = await openWorld(t)
  for (const [query, code] of [
    ['', 'required'],
    ['?distinct_id=', 'blank'],
    ['?distinct_id=a%00', 'invalid_input'],
  ]) {
    const reply = await world.get(`${path}${query}`)
    t.equal(reply.status, 400)
    t.match(JSON.parse(reply.text), { code, attr: 'distinct_id' })
  }
})

t.test('wants the scope person:read, and is closed to others', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['person:read'] })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['query:read'] })
  t.equal((await world.get(`${path}?distinct_id=a`, 'phx_reader')).status, 200)
  t.equal((await world.get(`${path}?distinct_id=a`, 'phx_other')).status, 403)
  t.equal((await world.get(`${path}?distinct_id=a`, 'phx_stranger')).status, 404)
})

t.test('shows 200 distinct_ids, the one that was asked for among them', async (t) => {
  const world = await openWorld(t)
  const idsOf = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(3, '0')}`)
  await addPerson(world.postgres, { number: 1, distinctIds: idsOf('a', 200) })
  await addPerson(world.postgres, { number: 2, distinctIds: idsOf('b', 201) })
  const explain = async (id: string) => JSON.parse((await world.get(`${path}?distinct_id=${id}`)).text)
  const [whole, cut] = [await explain('a199'), await explain('b200')]
  t.same([whole.distinct_ids.length, cut.distinct_ids.length], [200, 200])
  t.same([whole.distinct_ids[0].distinct_id, cut.distinct_ids[0].distinct_id], ['a199', 'b200'])
  const left = 'The person has more than 200 distinct_ids: the others are left out.'
  t.same([whole.notes.includes(left), cut.notes.includes(left)], [false, true])
})
