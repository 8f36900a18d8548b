// When an event happened. It is 2024-05-01T12:00:00Z in the server.

import t, { type Test } from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event, type Fields, single } from './requests.ts'

const server = await startServer(t)
const elevenOClock = '2024-05-01T11:00:00Z'

/** The event of this distinct_id is stored once, at `expected` (ISO, to the millisecond). */
async function storedAt(t: Test, distinctId: string, expected: string): Promise<void> {
  const rows = await server.storedEvents({ distinct_id: distinctId })
  t.same(
    rows.map((row) => new Date(row.timestamp).toISOString()),
    [expected],
    distinctId,
  )
}

/** Sends one event in an envelope and sees when it is stored. */
async function happens(
  t: Test,
  id: string,
  fields: Fields,
  envelope: Fields,
  expected: string,
): Promise<void> {
  const reply = await server.post('/batch/', { ...batch(event(id, fields)), ...envelope })
  t.equal(reply.status, 200, id)
  await storedAt(t, id, expected)
}

t.test("a sender's clock that is ahead is corrected (case 49)", async (t) => {
  const sent = { sent_at: '2024-05-01T12:00:10Z' }
  await happens(t, 'ahead', { timestamp: elevenOClock }, sent, '2024-05-01T10:59:50.000Z')
})

t.test("a sender's clock that is behind is corrected (case 50)", async (t) => {
  const sent = { sent_at: '2024-05-01T11:59:50Z' }
  await happens(t, 'behind', { timestamp: elevenOClock }, sent, '2024-05-01T11:00:10.000Z')
})

t.test('$ignore_sent_at keeps the time as sent (case 51)', async (t) => {
  const fields = { timestamp: elevenOClock, properties: { $ignore_sent_at: true } }
  await happens(t, 'as sent', fields, { sent_at: '2024-05-01T12:00:10Z' }, '2024-05-01T11:00:00.000Z')
})

t.test('an event without a time happens now (case 52)', async (t) => {
  await happens(t, 'timeless', {}, { sent_at: '2024-05-01T12:00:10Z' }, '2024-05-01T12:00:00.000Z')
  await happens(t, 'timeless, unsent', {}, {}, '2024-05-01T12:00:00.000Z')
})

t.test('a time that cannot be read means now (case 53)', async (t) => {
  await happens(t, 'unreadable', { timestamp: 'not a date' }, {}, '2024-05-01T12:00:00.000Z')
})

t.test('an offset counts back from now and outranks the time (case 54)', async (t) => {
  await happens(t, 'offset', { offset: 5000 }, {}, '2024-05-01T11:59:55.000Z')
  await happens(t, 'offset wins', { offset: 5000, timestamp: elevenOClock }, {}, '2024-05-01T11:59:55.000Z')
})

t.test('?_ tells in milliseconds when the request was sent; seconds are ignored (case 55)', async (t) => {
  const queries = {
    '_=1714564800000': '2024-05-01T11:00:00.000Z',
    '_=1714564810000': '2024-05-01T10:59:50.000Z',
    'sent_at=1714564810000': '2024-05-01T10:59:50.000Z',
    '_=1714564810': '2024-05-01T11:00:00.000Z',
  }
  for (const [query, expected] of Object.entries(queries)) {
    const reply = await server.post(`/e/?${query}`, single(query, { timestamp: elevenOClock }))
    t.equal(reply.status, 200, query)
    await storedAt(t, query, expected)
  }
})

t.test("the envelope's sent_at goes before that of the query", async (t) => {
  const body = { ...batch(event('both', { timestamp: elevenOClock })), sent_at: '2024-05-01T12:00:10Z' }
  await server.post('/batch/?_=1714564860000', body)
  await storedAt(t, 'both', '2024-05-01T10:59:50.000Z')
})

t.test('sent_at with microseconds and a numeric zone is understood (case 56)', async (t) => {
  const sent = { sent_at: '2024-05-01T12:00:00.123456+00:00' }
  await happens(t, 'python', { timestamp: elevenOClock }, sent, '2024-05-01T10:59:59.877Z')
  const zone = { sent_at: '2024-05-01T14:00:10.000000+02:00' }
  await happens(t, 'python zone', { timestamp: elevenOClock }, zone, '2024-05-01T10:59:50.000Z')
})

t.test('sent_at without a zone is ignored', async (t) => {
  const sent = { sent_at: '2024-05-01T12:00:10' }
  await happens(t, 'sent zoneless', { timestamp: elevenOClock }, sent, '2024-05-01T11:00:00.000Z')
})

t.test('a time without a zone is UTC (case 57)', async (t) => {
  await happens(t, 'zoneless', { timestamp: '2023-01-01T12:00:00' }, {}, '2023-01-01T12:00:00.000Z')
})

t.test('times are read in every usual form', async (t) => {
  const forms = {
    '2023-01-01T12:00:00+05:30': '2023-01-01T06:30:00.000Z',
    '2023-01-01T12:00:00.123456Z': '2023-01-01T12:00:00.123Z',
    '2023-01-01T12:00:00+02': '2023-01-01T10:00:00.000Z',
    '2023-01-01 12:00:00': '2023-01-01T12:00:00.000Z',
    '2023-01-01': '2023-01-01T00:00:00.000Z',
    'Sun, 01 Jan 2023 12:00:00 +0000': '2023-01-01T12:00:00.000Z',
    '1672574400': '2023-01-01T12:00:00.000Z',
    '1672574400123': '2023-01-01T12:00:00.123Z',
  }
  for (const [timestamp, expected] of Object.entries(forms))
    await happens(t, `form ${timestamp}`, { timestamp }, {}, expected)
})

t.test('a year that is none becomes the epoch (case 58)', async (t) => {
  await happens(t, 'year 10000', { timestamp: '+10000-01-01T00:00:00Z' }, {}, '1970-01-01T00:00:00.000Z')
})

t.test('a time more than 23 hours ahead means now', async (t) => {
  const ahead = { timestamp: '2024-05-02T11:00:00.001Z' }
  await happens(t, '23 hours and 1 ms', ahead, {}, '2024-05-01T12:00:00.000Z')
  const limit = { timestamp: '2024-05-02T11:00:00.000Z' }
  await happens(t, '23 hours', limit, {}, '2024-05-02T11:00:00.000Z')
})
