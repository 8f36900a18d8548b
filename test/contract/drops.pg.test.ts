// A bad event never costs a good one: it is dropped, the request is still answered 200, and an ingestion warning and a
// metric tell of it.

import t, { type Test } from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event, type Fields, single } from './requests.ts'

const server = await startServer(t)

interface Warning {
  readonly type: string
  readonly reason: string
  readonly count: number
  readonly first_seen: string
  readonly last_seen: string
  readonly sample: { readonly event: string; readonly distinct_id: string; readonly detail: string }
}

async function warningOf(reason: string): Promise<Warning | undefined> {
  await server.settled()
  const reply = await server.get(`/api/projects/${server.projectId}/ingestion_warnings/?limit=100`)
  // The list envelope; the tests below check the fields they read.
  const { results } = JSON.parse(reply.text) as { results: Warning[] }
  return results.find((warning) => warning.reason === reason)
}

async function metric(line: string): Promise<number> {
  const { text } = await server.get('/metrics')
  const found = text.split('\n').find((one) => one.startsWith(`${line} `))
  return found === undefined ? 0 : Number(found.slice(line.length + 1))
}

/** Sends a batch with one bad event between two good ones: only the good ones are stored, and `reason` is counted. */
async function dropsOnly(t: Test, bad: unknown, reason: string, distinctId: string): Promise<void> {
  const counter = `spate_events_dropped_total{reason="${reason}"}`
  const before = { metric: await metric(counter), warning: (await warningOf(reason))?.count ?? 0 }
  const good = (name: string): Fields => event(distinctId, { event: name })
  const reply = await server.post('/batch/', batch(good('before'), bad, good('after')))
  t.equal(reply.status, 200, reason)
  t.equal(reply.text, '{"status":"Ok"}', reason)
  const rows = await server.storedEvents({ distinct_id: distinctId })
  t.same(
    rows.map((row) => row.event),
    ['before', 'after'],
    reason,
  )
  t.equal(await metric(counter), before.metric + 1, `${reason} is counted`)
  t.equal((await warningOf(reason))?.count, before.warning + 1, `${reason} is listed`)
}

t.test('an event without a name is dropped and the others are stored (case 36)', async (t) => {
  await dropsOnly(t, { distinct_id: 'nameless' }, 'event_name_missing', 'nameless')
  await dropsOnly(t, event('nameless too', { event: '' }), 'event_name_empty', 'nameless too')
  await dropsOnly(t, event('name null', { event: null }), 'event_name_missing', 'name null')
})

t.test('a batch of invalid events alone is answered 200 and stores nothing (case 37)', async (t) => {
  const bad = [
    { event: 'idless' },
    { event: 'idless', properties: {} },
    { event: 'idless', distinct_id: null },
  ]
  const reply = await server.post('/batch/', batch(...bad))
  t.equal(reply.status, 200)
  t.equal(reply.text, '{"status":"Ok"}')
  t.same(await server.storedEvents({ event: 'idless' }), [])
  t.match(await warningOf('distinct_id_missing'), {
    reason: 'distinct_id_missing',
    count: 3,
    first_seen: /^2024-05-01T12:00:00/,
    last_seen: /^2024-05-01T12:00:00/,
    sample: { event: 'idless', distinct_id: '' },
  })
  t.equal(await metric('spate_events_dropped_total{reason="distinct_id_missing"}'), 3)
})

t.test('a single event with an empty distinct_id is answered 200 and not stored (case 38)', async (t) => {
  for (const path of ['/capture/', '/e/', '/batch/']) {
    const reply = await server.post(path, single('', { event: 'empty id' }))
    t.equal(reply.status, 200, path)
    t.equal(reply.text, '{"status":"Ok"}', path)
  }
  for (const body of [single('x', { event: '' }), { api_key: server.projectApiKey, event: 'no id' }])
    t.equal((await server.post('/capture/', body)).status, 200)
  t.same(await server.storedEvents({ event: 'empty id' }), [])
  t.same(await server.storedEvents({ event: 'no id' }), [])
})

t.test('an empty uuid is replaced by one of our own (case 39)', async (t) => {
  for (const uuid of ['', null, undefined]) await server.post('/e/', single('no uuid', { uuid }))
  const rows = await server.storedEvents({ distinct_id: 'no uuid' })
  t.equal(rows.length, 3)
  // Version 7, and the time part is the time of the event.
  for (const { id } of rows) t.match(id, /^018f3406-9e00-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(new Set(rows.map(({ id }) => id)).size, 3)
})

t.test('a uuid that is none refuses a single event and drops one of a batch (case 39)', async (t) => {
  const reply = await server.post('/e/', single('bad uuid', { uuid: 'not-a-uuid' }))
  t.equal(reply.status, 400)
  t.match(reply.text, /^failed to parse request/)
  await dropsOnly(t, event('bad uuid', { uuid: 'not-a-uuid' }), 'uuid_invalid', 'bad uuid')
})

t.test("a client's uuid is kept in lower case", async (t) => {
  const uuid = '0190D5A1-7B8C-4DEF-8123-0123456789AB'
  await server.post('/e/', single('own uuid', { uuid }))
  const rows = await server.storedEvents({ distinct_id: 'own uuid' })
  t.same(
    rows.map((row) => row.id),
    ['0190d5a1-7b8c-4def-8123-0123456789ab'],
  )
})

t.test('a cookieless mode that is no boolean refuses a single event (case 40)', async (t) => {
  const properties = { $cookieless_mode: 'yes' }
  const reply = await server.post('/e/', single('cookieless', { properties }))
  t.equal(reply.status, 400)
  t.equal(reply.text, 'event submitted with invalid cookieless mode')
  await dropsOnly(t, event('x', { properties }), 'cookieless_mode_invalid', 'cookieless')
})

t.test('a cookieless event is dropped: the mode is off', async (t) => {
  const properties = { $cookieless_mode: true }
  await dropsOnly(t, event('$posthog_cookieless', { properties }), 'cookieless_mode_off', 'cookieless off')
  t.same(await server.storedEvents({ distinct_id: '$posthog_cookieless' }), [])
})

t.test(
  'a field of the wrong type refuses a single event and drops one of a batch (decision D2)',
  async (t) => {
    const faults: readonly [reason: string, fields: Fields][] = [
      ['properties_invalid', { properties: [] }],
      ['properties_invalid', { properties: 'text' }],
      ['properties_invalid', { properties: null }],
      ['timestamp_invalid', { timestamp: 1714564800 }],
      ['event_name_invalid', { event: 7 }],
      ['offset_invalid', { offset: 'late' }],
      ['set_invalid', { $set: ['a'] }],
      ['set_invalid', { $set_once: 'a' }],
    ]
    for (const [number, [reason, fields]] of faults.entries()) {
      const reply = await server.post('/e/', single('wrong type', fields))
      t.equal(reply.status, 400, JSON.stringify(fields))
      t.match(reply.text, /^failed to parse request/)
      await dropsOnly(t, event('wrong type', fields), reason, `wrong type ${number}`)
    }
    await dropsOnly(t, 'no object', 'event_not_an_object', 'wrong type text')
    await dropsOnly(t, null, 'event_not_an_object', 'wrong type null')
    t.same(await server.storedEvents({ distinct_id: 'wrong type' }), [])
  },
)

t.test('an event nested deeper than 128 is dropped', async (t) => {
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
  await dropsOnly(t, event('deep', { properties: { deep: nested(200) } }), 'event_too_deep', 'deep')
  const reply = await server.post('/batch/', batch(event('not deep', { properties: { deep: nested(100) } })))
  t.equal(reply.status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'not deep' })).length, 1)
})

t.test('$performance_event is removed, also when nothing else is there', async (t) => {
  const reply = await server.post('/e/', single('performance', { event: '$performance_event' }))
  t.equal(reply.status, 200)
  t.equal(reply.text, '{"status":"Ok"}')
  t.same(await server.storedEvents({ distinct_id: 'performance' }), [])
})

t.test(
  'a required property that is missing is a warning, and the event is stored (decision 8)',
  async (t) => {
    const reply = await server.post('/e/', single('no address', { event: '$pageview' }))
    t.equal(reply.status, 200)
    t.equal((await server.storedEvents({ distinct_id: 'no address' })).length, 1)
    t.match(await warningOf('required_property_missing'), { sample: { event: '$pageview' } })
  },
)
