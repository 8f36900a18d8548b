// Batches flagged as historical: years of the past arrive in order, with their times, on a lane of their own.

import t from 'tap'
import { readStoredRows } from '../support/rows.ts'
import { startServerProcess } from '../support/server.ts'
import { batch, event, type Fields } from './requests.ts'

const server = await startServerProcess(t)

function historical(...events: readonly Fields[]): Fields {
  return { ...batch(...events), historical_migration: true }
}

const years = Array.from({ length: 200 }, (_, n) =>
  event('past', {
    event: `event ${n}`,
    timestamp: n % 2 === 0 ? '2023-01-01T12:00:00.123456Z' : '2023-03-01T00:00:00Z',
  }),
)

t.test('a historical batch keeps its order and its times (case 92)', async (t) => {
  const reply = await server.post('/batch/', historical(...years))
  t.equal(reply.status, 200)
  t.equal(reply.text, '{"status":"Ok"}')
  const rows = await server.storedEvents({ distinct_id: 'past' })
  // The list is ordered by time; events of one time stay as they came.
  const even = years.filter((_, n) => n % 2 === 0)
  const odd = years.filter((_, n) => n % 2 === 1)
  t.same(
    rows.map((row) => row.event),
    [...even, ...odd].map((one) => one.event),
  )
  t.equal(new Date(rows[0]?.timestamp ?? '').toISOString(), '2023-01-01T12:00:00.123Z')
  t.equal(new Date(rows[199]?.timestamp ?? '').toISOString(), '2023-03-01T00:00:00.000Z')
})

t.test('sent_at does not move historical times (decision 9)', async (t) => {
  const timestamp = '2023-06-01T00:00:00Z'
  const body = { ...historical(event('unmoved', { timestamp })), sent_at: '2024-01-01T00:00:00Z' }
  t.equal((await server.post('/batch/', body)).status, 200)
  const [row] = await server.storedEvents({ distinct_id: 'unmoved' })
  t.equal(new Date(row?.timestamp ?? '').toISOString(), '2023-06-01T00:00:00.000Z')
})

t.test('a flag that is no boolean is refused by name', async (t) => {
  for (const flag of ['true', 1, [], {}]) {
    const reply = await server.post('/batch/', { ...batch(event('no flag')), historical_migration: flag })
    t.equal(reply.status, 400, JSON.stringify(flag))
    t.match(reply.text, /^failed to parse request: .*historical_migration/)
  }
  t.same(await server.storedEvents({ distinct_id: 'no flag' }), [])
})

t.test('an event without a time happens now, with a warning', async (t) => {
  t.equal((await server.post('/batch/', historical(event('timeless')))).status, 200)
  const [row] = await server.storedEvents({ distinct_id: 'timeless' })
  t.ok(Math.abs(Date.parse(row?.timestamp ?? '') - Date.now()) < 60_000)
  const warnings = await server.get(`/api/projects/${server.projectId}/ingestion_warnings/?limit=100`)
  t.match(warnings.text, /"reason":"timestamp_missing"/)
})

t.test('the flag is believed as sent and stored on the row', async (t) => {
  await server.post('/batch/', historical(event('young', { timestamp: new Date().toISOString() })))
  await server.post('/batch/', batch(event('old', { timestamp: '2020-01-01T00:00:00Z' })))
  await server.post('/batch/', { ...batch(event('plain')), historical_migration: false })
  await server.settled()
  t.equal(await server.stop(), 0)
  const read = (id: string) => readStoredRows(server.dataDir, id)
  t.match(await read('young'), [{ historical: true }])
  t.match(await read('old'), [{ historical: false }])
  t.match(await read('plain'), [{ historical: false }])
  const past = await read('past')
  t.ok(past.every((row) => row.historical))
  t.same(
    past.map((row) => row.event),
    years.map((one) => one.event),
    'stored in the order sent',
  )
})
