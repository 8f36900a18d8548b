import t from 'tap'
import type { ListedEvent } from '../../src/events/list.ts'
import { type Micros, microsFromMs } from '../../src/lib/clock.ts'
import { formatMicros } from '../../src/management/events-list.ts'
import { openWorld } from '../api/world.ts'

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
