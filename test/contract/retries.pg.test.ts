// A request that is sent again, because its answer was lost, changes nothing.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event, type Fields } from './requests.ts'

const server = await startServer(t)

function uuid(n: number): string {
  return `0190d5a1-0000-4000-8000-${String(n).padStart(12, '0')}`
}

async function count(distinctId: string): Promise<number> {
  return (await server.storedEvents({ distinct_id: distinctId })).length
}

t.test('the same batch sent again is stored once (case 94)', async (t) => {
  const events = Array.from({ length: 10 }, (_, n) => event('retry', { uuid: uuid(n), event: `event ${n}` }))
  const { text } = await server.get('/metrics')
  const before = Number(/^spate_events_duplicate_total (\d+)/m.exec(text)?.[1] ?? 0)
  for (let attempt = 0; attempt < 3; attempt++) {
    const reply = await server.post('/batch/', batch(...events))
    t.equal(reply.status, 200)
    t.equal(reply.text, '{"status":"Ok"}')
  }
  const rows = await server.storedEvents({ distinct_id: 'retry' })
  t.same(
    rows.map((row) => [row.id, row.event]),
    events.map((one) => [one.uuid, one.event]),
  )
  const after = (await server.get('/metrics')).text
  t.match(after, new RegExp(`^spate_events_duplicate_total ${before + 20}$`, 'm'))
})

t.test('the same batch sent many times at once is stored once', async (t) => {
  const body = batch(event('at once', { uuid: uuid(100) }), event('at once', { uuid: uuid(101) }))
  const replies = await Promise.all(Array.from({ length: 20 }, () => server.post('/batch/', body)))
  t.ok(replies.every((reply) => reply.status === 200))
  t.equal(await count('at once'), 2)
})

t.test('an event that stands twice in one batch is stored once', async (t) => {
  const twice = event('twice', { uuid: uuid(200) })
  t.equal((await server.post('/batch/', batch(twice, twice))).status, 200)
  t.equal(await count('twice'), 1)
})

t.test('a retry with a changed time or other properties is still the same event', async (t) => {
  const first: Fields = { uuid: uuid(300), timestamp: '2024-05-01T11:00:00Z', properties: { a: 1 } }
  const second: Fields = { uuid: uuid(300), timestamp: '2024-05-01T11:30:00Z', properties: { a: 2 } }
  await server.post('/batch/', batch(event('changed', first)))
  await server.post('/batch/', batch(event('changed', second)))
  const rows = await server.storedEvents({ distinct_id: 'changed' })
  t.match(rows, [{ timestamp: /^2024-05-01T11:00:00/, properties: { a: 1 } }])
  t.equal(rows.length, 1)
})

t.test('the same uuid with another name or distinct_id is another event', async (t) => {
  const events = [
    event('other', { uuid: uuid(400) }),
    event('other', { uuid: uuid(400), event: 'another name' }),
    event('another id', { uuid: uuid(400) }),
  ]
  await server.post('/batch/', batch(...events))
  t.equal(await count('other'), 2)
  t.equal(await count('another id'), 1)
})

t.test('events without a uuid are never taken for retries', async (t) => {
  await server.post('/batch/', batch(event('no uuid'), event('no uuid')))
  await server.post('/batch/', batch(event('no uuid')))
  t.equal(await count('no uuid'), 3)
})
