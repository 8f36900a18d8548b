// What becomes of a deleted person's events. In real time: what counts is when an event was received.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event } from './requests.ts'

const server = await startServer(t, { nowMs: null })
const anonymous = { $process_person_profile: false }

async function send(historical: boolean, ...events: Parameters<typeof batch>): Promise<void> {
  const body = { ...batch(...events), historical_migration: historical }
  const reply = await server.post('/batch/', body)
  if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${reply.text}`)
}

interface Listed {
  readonly uuid: string
  readonly distinct_ids: readonly string[]
}

async function personOf(distinctId: string): Promise<Listed | undefined> {
  const { text } = await server.get(`/api/projects/1/persons/?distinct_id=${distinctId}`)
  // The list's envelope.
  return (JSON.parse(text) as { results: Listed[] }).results[0]
}

async function remove(distinctId: string, query: string): Promise<string> {
  await server.settled()
  const { uuid = '' } = (await personOf(distinctId)) ?? {}
  const headers = { authorization: `Bearer ${server.personalApiKey}` }
  const { status } = await fetch(`${server.url}/api/projects/1/persons/${uuid}/${query}`, {
    method: 'DELETE',
    headers,
  })
  t.equal(status, 204)
  return uuid
}

/** Of the distinct_ids that begin with `prefix`, as reads see them at this moment. */
async function eventsOf(prefix: string, query = ''): Promise<string[]> {
  const { text } = await server.get(`/api/projects/1/events/?limit=1000${query}`)
  const { results } = JSON.parse(text) as { results: { event: string; distinct_id: string }[] }
  return results
    .filter(({ distinct_id }) => distinct_id.startsWith(prefix))
    .map((one) => `${one.event} of ${one.distinct_id}`)
    .sort()
}

t.test(
  'events that are to go with their person are gone at once, those that come later are not',
  async (t) => {
    const identify = { event: '$identify', properties: { $anon_distinct_id: 'a-anon' } }
    await send(false, event('a-anon', { event: 'looked', properties: anonymous }), event('a-user', identify))
    await send(true, event('a-user', { event: 'imported', timestamp: '2023-01-01T00:00:00Z' }))
    await send(false, event('a-other'))
    await server.settled()
    t.equal((await eventsOf('a-')).length, 4)

    const uuid = await remove('a-user', '?delete_events=true')

    t.same(await eventsOf('a-'), ['e of a-other'])
    t.same(await eventsOf('a-', `&person_id=${uuid}`), [])
    await send(false, event('a-user', { event: 'back' }))
    await send(true, event('a-anon', { event: 'imported later', timestamp: '2023-01-01T00:00:00Z' }))
    await server.settled()
    t.same(await eventsOf('a-'), ['back of a-user', 'e of a-other', 'imported later of a-anon'])
    t.same((await personOf('a-user'))?.distinct_ids, ['a-user'])
    t.same((await personOf('a-anon'))?.distinct_ids, ['a-anon'])
  },
)

t.test('events that are kept belong to nobody’s other ids any more', async (t) => {
  const identify = { event: '$identify', properties: { $anon_distinct_id: 'b-anon' } }
  await send(false, event('b-anon'), event('b-user', identify), event('b-user'))
  const uuid = await remove('b-user', '')
  t.same(await eventsOf('b-'), ['$identify of b-user', 'e of b-anon', 'e of b-user'])
  // The person was born to b-anon, and the events of b-user are their own again.
  t.same(await eventsOf('b-', `&person_id=${uuid}`), ['e of b-anon'])
  await send(false, event('b-user'))
  await server.settled()
  const again = await personOf('b-user')
  t.same(await eventsOf('b-', `&person_id=${again?.uuid}`), [
    '$identify of b-user',
    'e of b-user',
    'e of b-user',
  ])
})

t.test('a second deletion hides what came since the first', async (t) => {
  await send(false, event('c-user', { event: 'first' }))
  await remove('c-user', '?delete_events=true')
  await send(false, event('c-user', { event: 'second' }))
  await server.settled()
  t.same(await eventsOf('c-'), ['second of c-user'])
  await remove('c-user', '?delete_events=true')
  t.same(await eventsOf('c-'), [])
})
