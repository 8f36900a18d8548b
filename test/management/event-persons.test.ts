import t from 'tap'
import { ServiceError } from '../../src/errors.ts'
import type { ListedEvent } from '../../src/events/list.ts'
import type { Micros } from '../../src/lib/clock.ts'
import { personsOfEvents } from '../../src/management/event-persons.ts'

const listed: ListedEvent = {
  uuid: '0191e9ce-9a87-7000-8000-000000000001',
  event: 'e',
  distinctId: 'u',
  personId: '0191e9ce-9a87-7000-8000-000000000002',
  timestampMicros: 0 as Micros, // any time
  receivedAtMicros: 0 as Micros,
  propertiesText: '{}',
  elementsChain: '',
  historical: false,
  anonymous: false,
  lane: 0,
  position: 0,
  index: 0,
}

t.test('events have no person while Postgres is away', async (t) => {
  const away = { query: () => Promise.reject(new ServiceError('postgres_unavailable')) }
  t.same(await personsOfEvents(away, 1, [listed]), new Map())
})

t.test('any other failure is one', async (t) => {
  const broken = { query: () => Promise.reject(new Error('a bug')) }
  await t.rejects(personsOfEvents(broken, 1, [listed]), { message: 'a bug' })
})

t.test('asks nothing for a page without events', async (t) => {
  const asked: string[] = []
  const query = (sql: string) => {
    asked.push(sql)
    return Promise.reject(new Error('not asked'))
  }
  t.same(await personsOfEvents({ query }, 1, []), new Map())
  t.same(asked, [])
})
