import t from 'tap'
import type { ListedEvent } from '../../src/events/list.ts'
import { type Micros, microsFromMs } from '../../src/lib/clock.ts'
import { formatMicros } from '../../src/management/events-list.ts'
import { openWorld } from '../api/world.ts'
import { addPerson, personUuid } from './identities.ts'

const listed: ListedEvent = {
  uuid: '0191e9ce-9a87-7000-8000-000000000001',
  event: 'paid "twice"',
  distinctId: 'üser',
  personId: '0191e9ce-9a87-7000-8000-000000000002',
  timestampMicros: microsFromMs(Date.UTC(2024, 4, 1)),
  receivedAtMicros: microsFromMs(Date.UTC(2024, 4, 2)),
  propertiesText: '{"amount": 12345678901234567890.10}',
  elementsChain: 'button:text="Buy"',
  historical: false,
  anonymous: false,
  lane: 0,
  position: 4096,
  index: 3,
}

t.test('prints events with their properties as they were stored', async (t) => {
  const world = await openWorld(t)
  world.page = { events: [listed, { ...listed, event: 'b' }], next: null }
  const reply = await world.get('/api/projects/1/events/')
  t.equal(reply.headers.get('content-type'), 'application/json')
  t.match(reply.text, /"properties":\{"amount": 12345678901234567890\.10\},/)
  const { next, results } = JSON.parse(reply.text)
  t.equal(next, null)
  t.equal(results.length, 2)
  t.strictSame(results[0], {
    id: '0191e9ce-9a87-7000-8000-000000000001',
    distinct_id: 'üser',
    properties: { amount: 12345678901234567000 },
    event: 'paid "twice"',
    timestamp: '2024-05-01T00:00:00Z',
    person: null,
    elements: [],
    elements_chain: 'button:text="Buy"',
  })
})

t.test('asks for everything when nothing is filtered', async (t) => {
  const world = await openWorld(t)
  await world.get('/api/projects/2/events?event=&after=')
  t.strictSame(world.asked, [
    {
      projectId: 2,
      event: null,
      distinctId: null,
      personId: null,
      afterMicros: null,
      beforeMicros: null,
      properties: [],
      limit: 100,
      cursor: null,
    },
  ])
})

t.test('hands every filter on', async (t) => {
  const world = await openWorld(t)
  const query = new URLSearchParams({
    event: '$pageview',
    distinct_id: 'a b',
    person_id: '0191e9ce-9a87-7000-8000-000000000002',
    after: '-24h',
    before: '2024-05-01T10:00:00Z',
    properties: '[{"key":"$browser","value":"Chrome","operator":"icontains","type":"event"}]',
    limit: '5000',
  })
  t.equal((await world.get(`/api/projects/1/events/?${query}`)).status, 200)
  t.strictSame(world.asked, [
    {
      projectId: 1,
      event: '$pageview',
      distinctId: 'a b',
      personId: '0191e9ce-9a87-7000-8000-000000000002',
      afterMicros: Date.UTC(2024, 3, 30, 12) * 1000,
      beforeMicros: Date.UTC(2024, 4, 1, 10) * 1000,
      properties: [{ key: '$browser', operator: 'icontains', value: 'Chrome' }],
      limit: 1000,
      cursor: null,
    },
  ])
})

t.test('links to the next page, which goes on where this one ended', async (t) => {
  const world = await openWorld(t)
  const { timestampMicros, lane, position, index } = listed
  world.page = { events: [listed], next: { timestampMicros, lane, position, index } }
  const reply = await world.get('/api/projects/1/events/?limit=1&event=paid')
  const { next } = JSON.parse(reply.text)
  t.match(next, /^https:\/\/spate\.example\/api\/projects\/1\/events\/\?cursor=[\w-]+&event=paid&limit=1$/)
  await world.get(next.slice('https://spate.example'.length))
  t.match(world.asked[1], { event: 'paid', limit: 1, cursor: { timestampMicros, lane, position, index } })
})

t.test('refuses filters it cannot read, naming them', async (t) => {
  const world = await openWorld(t)
  for (const [name, value] of [
    ['after', 'noon'],
    ['properties', '['],
    ['cursor', 'AAAA'],
  ]) {
    const reply = await world.get(`/api/projects/1/events/?${name}=${value}`)
    t.equal(reply.status, 400)
    t.match(JSON.parse(reply.text), { type: 'validation_error', code: 'invalid_input', attr: name })
  }
  t.strictSame(world.asked, [])
})

t.test('prints microseconds where there are some', async (t) => {
  t.equal(formatMicros(microsFromMs(0)), '1970-01-01T00:00:00Z')
  t.equal(formatMicros(microsFromMs(1500)), '1970-01-01T00:00:01.500000Z')
  t.equal(formatMicros(-1 as Micros), '1969-12-31T23:59:59.999999Z') // a moment in microseconds
})

t.test('shows the person of every event, its properties as they are stored', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, {
    number: 1,
    distinctIds: ['z', 'a'],
    properties: '{"n": 12345678901234567890.10}',
  })
  await addPerson(world.postgres, { number: 2, projectId: 3 })
  const of = (number: number) => ({ ...listed, personId: personUuid(number) })
  world.page = { events: [of(1), of(2), of(3), of(1)], next: null }
  const { text } = await world.get('/api/projects/1/events/')
  t.match(text, '"person":{"distinct_ids":["a","z"],"properties":{"n": 12345678901234567890.10}}')
  const person = { distinct_ids: ['a', 'z'], properties: { n: 12345678901234567000 } }
  t.strictSame(
    JSON.parse(text).results.map((one: { person: unknown }) => one.person),
    [person, null, null, person],
    'none for the person of another organization, nor for one that does not exist',
  )
})

t.test('ends a page before the persons become too large, and goes on behind it', async (t) => {
  const world = await openWorld(t)
  const MiB = 1024 * 1024
  const sizes = [16 * MiB - 1, 1, 1]
  for (const [i, propertiesBytes] of sizes.entries())
    await addPerson(world.postgres, { number: i + 1, propertiesBytes })
  const events = [1, 2, 3].map((number) => ({ ...listed, personId: personUuid(number), index: number }))
  world.page = { events, next: null }
  const first = JSON.parse((await world.get('/api/projects/1/events/')).text)
  t.equal(first.results.length, 2, 'the person that reaches 16 MiB is still there')
  world.page = { events: events.slice(2), next: null }
  const path = new URL(first.next)
  const second = JSON.parse((await world.get(path.pathname + path.search)).text)
  t.equal(world.asked.at(-1)?.cursor?.index, 2)
  t.same([second.results.length, second.next], [1, null])
})

t.test('ends a page before it prints a large person too often', async (t) => {
  const world = await openWorld(t)
  const properties = JSON.stringify({ text: 'x'.repeat(600_000) })
  await addPerson(world.postgres, { number: 1, properties })
  const events = Array.from({ length: 60 }, (_, index) => ({ ...listed, personId: personUuid(1), index }))
  world.page = { events, next: null }
  const { next, results } = JSON.parse((await world.get('/api/projects/1/events/')).text)
  t.equal(results.length, 55)
  t.not(next, null)
})
