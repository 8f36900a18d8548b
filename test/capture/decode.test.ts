import { gzipSync } from 'node:zlib'
import t from 'tap'
import { decodeCapture } from '../../src/capture/decode.ts'
import { captured, dropsOf, now, propertiesOf, refusal, row, rows, task, warningsOf } from './tasks.ts'

const key = { api_key: 'phc_test' }
const event = { event: 'e', distinct_id: 'u' }

t.test('accepts one event on any path', async (t) => {
  // INGESTION case 3
  for (const path of ['/batch', '/capture', '/e', '/i/v0/e', '/track', '/engage'] as const) {
    t.equal(rows({ ...key, ...event }, { path })[0]?.event, 'e')
  }
})

t.test('accepts a bare array and keeps its order', async (t) => {
  // INGESTION case 4
  const events = ['a', 'b', 'c'].map((name) => ({ ...event, event: name, token: 'phc_test' }))
  t.same(
    rows(events, { path: '/capture' }).map((one) => one.event),
    ['a', 'b', 'c'],
  )
})

t.test('lets events of an array without a key use the key of the others', async (t) => {
  t.equal(rows([event, { ...event, ...key }, event]).length, 3)
})

t.test('accepts an envelope with token in place of api_key, fields in any order', async (t) => {
  // INGESTION cases 2, 5
  t.equal(rows({ token: 'phc_test', batch: [event, event] }, { path: '/e' }).length, 2)
  t.equal(
    rows({ batch: [event], sent_at: '2024-05-01T12:00:00Z', historical_migration: false, ...key }).length,
    1,
  )
})

t.test('takes an object with a list as batch for an envelope, even if it looks like an event', async (t) => {
  const batch = [event, event, event]
  t.equal(rows({ ...event, ...key, batch }).length, 3)
  t.equal(rows({ ...key, batch, ...event }).length, 3)
  t.equal(rows({ properties: { a: [1] }, batch, ...key, historical_migration: true }).length, 3)
  t.equal(rows({ ...event, ...key, batch: 7 }).length, 1)
  t.equal(
    rows('{"event":"e","b\\u0061tch":[{"event":"e","distinct_id":"u"}],"api_key":"phc_test"}').length,
    1,
  )
  t.equal(refusal({ ...event, batch: [] }), 'payload_empty: request holds no event')
  t.match(refusal({ properties: {}, batch: {}, ...key }), /batch must be an array/)
  t.same(propertiesOf({ ...event, ...key, properties: { batch } }).batch, batch)
})

t.test('refuses a body that is not JSON, naming the byte', async (t) => {
  // INGESTION case 21
  t.equal(
    refusal('{'),
    'payload_unparseable: failed to parse request: expected more at byte 1, where the text ends',
  )
  t.match(
    refusal('"text "'),
    /^payload_unparseable: failed to parse request: expected an object or an array at byte 0/,
  )
  t.match(refusal('{"api_key":"phc_test","batch":[{}]} x'), /expected the end of the text at byte 36/)
  t.match(refusal('{"api_key":"phc_test","batch":[{"a":01}]}'), /at byte 37/)
  t.match(refusal('{"event":"e","api_key":"phc_test"} x'), /expected the end of the text at byte 35/)
  t.match(refusal('{"event":"e","properties":{"a":01}}'), /at byte 32/)
})

t.test('refuses an empty list before it asks for a key', async (t) => {
  // INGESTION case 22
  t.equal(refusal('[]'), 'payload_empty: request holds no event')
  t.equal(refusal({ batch: [] }), 'payload_empty: request holds no event')
  t.equal(refusal({ ...key, batch: [] }), 'payload_empty: request holds no event')
})

t.test('refuses events without a key', async (t) => {
  // INGESTION case 23
  const missing = 'api_key_missing: event submitted without an api_key'
  t.equal(refusal(event), missing)
  t.equal(refusal([event]), missing)
  t.equal(refusal({ batch: [event] }), missing)
  t.equal(refusal({ api_key: null, ...event }), missing)
  t.equal(refusal({ api_key: 7, batch: [{ ...event, ...key }] }), missing)
})

t.test('refuses keys of the wrong shape', async (t) => {
  // INGESTION case 24
  const shape = (apiKey: string) => refusal({ api_key: apiKey, batch: [event] })
  t.equal(shape(''), 'api_key_invalid: API key is not valid: empty')
  t.equal(shape('  '), 'api_key_invalid: API key is not valid: empty')
  t.equal(shape('x'.repeat(65)), 'api_key_invalid: API key is not valid: too_long')
  t.equal(shape('phx_abc'), 'api_key_invalid: API key is not valid: personal_api_key')
  t.equal(shape('😀'), 'api_key_invalid: API key is not valid: not_ascii')
  t.equal(shape('phc_\0'), 'api_key_invalid: API key is not valid: null_byte')
  t.equal(refusal({ ...event, token: 'a\0' }), 'api_key_invalid: API key is not valid: null_byte')
})

t.test('trims a key', async (t) => {
  // INGESTION case 25
  t.equal(rows({ api_key: 'phc_test\n', batch: [event] }).length, 1)
})

t.test('refuses an array with two keys', async (t) => {
  // INGESTION case 26
  const events = [
    { ...event, token: 'a' },
    { ...event, api_key: 'b' },
  ]
  t.equal(refusal(events), 'api_key_inconsistent: batch submitted with inconsistent api_key values')
  t.equal(rows('[{"token":"phc_test","event":"e","distinct_id":"u"},{"token":"phc\\u005ftest"}]').length, 1)
})

t.test('finds the key in properties or as $token', async (t) => {
  // INGESTION cases 27, 28
  t.equal(
    rows({ ...event, properties: { token: 'phc_test' } })[0]?.properties.includes('"token":"phc_test"'),
    true,
  )
  t.equal(rows([{ ...event, properties: { token: 'phc_test' } }]).length, 1)
  t.equal(rows({ ...event, $token: 'phc_test' }).length, 1)
  t.equal(rows('{"event":"e","distinct_id":"u","token":"phc\\u005ftest"}').length, 1)
  t.equal(rows({ $token: 'phc_test', batch: [event] }).length, 1)
})

t.test('hands the body back when the key is in no snapshot', async (t) => {
  const unknown = task({ api_key: ' phc_nobody ', batch: [event] })
  t.same(decodeCapture(unknown), { kind: 'unknown_key', apiKey: 'phc_nobody', body: unknown.body })
})

t.test('makes an event without name an $identify on /engage, and only there', async (t) => {
  // INGESTION cases 34, 35
  const body = { token: 'phc_test', distinct_id: 'u', $set: { a: 1 } }
  const [identify] = rows(body, { path: '/engage' })
  t.equal(identify?.event, '$identify')
  t.same(JSON.parse(identify?.person ?? ''), { $set: { a: 1 } })
  t.equal(
    refusal(body, { path: '/e' }),
    'payload_unhydratable: failed to hydrate events from request: non-engage request missing event name attribute',
  )
})

t.test('drops events of a batch without name or distinct_id and keeps the others', async (t) => {
  // INGESTION cases 36, 37
  const batch = [
    { distinct_id: 'u' },
    event,
    { event: 'e' },
    { event: 'e', distinct_id: null },
    { ...event, event: '' },
  ]
  const outcome = captured({ ...key, batch })
  t.equal(outcome.eventCount, 1)
  t.same(dropsOf(outcome), { event_name_missing: 1, distinct_id_missing: 2, event_name_empty: 1 })
  const none = captured({ ...key, batch: [{ event: 'e' }] })
  t.same([none.eventCount, none.parts], [0, []])
})

t.test('drops a single event with an empty distinct_id or name and still accepts the request', async (t) => {
  // INGESTION case 38
  t.same(dropsOf(captured({ ...key, event: 'e', distinct_id: '' })), { distinct_id_missing: 1 })
  t.same(dropsOf(captured({ ...key, event: '', distinct_id: 'u' })), { event_name_empty: 1 })
})

t.test('refuses a single event for a fault of its schema, and drops it in a batch', async (t) => {
  // INGESTION cases 39, 40
  const faults: [object, string, string][] = [
    [{ uuid: 'not-a-uuid' }, 'uuid_invalid', 'uuid must be a UUID, an empty string or null'],
    [{ uuid: 7 }, 'uuid_invalid', 'uuid must be a UUID, an empty string or null'],
    [{ event: 5 }, 'event_name_invalid', 'event must be a string'],
    [{ properties: [] }, 'properties_invalid', 'properties must be an object'],
    [{ properties: null }, 'properties_invalid', 'properties must be an object'],
    [{ $set: [1] }, 'set_invalid', '$set and $set_once must be objects'],
    [{ $set_once: 'x' }, 'set_invalid', '$set and $set_once must be objects'],
    [{ timestamp: 1714564800 }, 'timestamp_invalid', 'timestamp must be a string'],
    [{ offset: 1.5 }, 'offset_invalid', 'offset must be a whole number of milliseconds'],
  ]
  for (const [fault, reason, words] of faults) {
    t.equal(refusal({ ...key, ...event, ...fault }), `payload_unparseable: failed to parse request: ${words}`)
    const outcome = captured({ ...key, batch: [event, { ...event, ...fault }] })
    t.same([outcome.eventCount, dropsOf(outcome)], [1, { [reason]: 1 }])
  }
  const cookieless = { ...event, properties: { $cookieless_mode: 'yes' } }
  t.equal(
    refusal({ ...key, ...cookieless }),
    'cookieless_mode_invalid: event submitted with invalid cookieless mode',
  )
  t.same(dropsOf(captured({ ...key, batch: [cookieless] })), { cookieless_mode_invalid: 1 })
})

t.test('drops members of a batch that are no objects', async (t) => {
  const outcome = captured({ ...key, batch: [1, event, null, [event], 'x'] })
  t.same([outcome.eventCount, dropsOf(outcome)], [1, { event_not_an_object: 4 }])
})

t.test('accepts the empty arrays that PHP sends for empty objects', async (t) => {
  // INGESTION case 42
  const identify = row({ event: '$identify', distinct_id: 'u', $set: [], properties: {} })
  t.same(JSON.parse(identify.properties).$set, {})
  t.equal(rows({ ...key, event: '$identify', distinct_id: 'u', $set: [] }).length, 1)
})

t.test('accepts the alias of PHP, its distinct_id in properties', async (t) => {
  const alias = row({
    event: '$create_alias',
    distinct_id: null,
    properties: { distinct_id: 'u', alias: 'v' },
  })
  t.same([alias.distinctId, alias.person], ['u', '{"alias":"v"}'])
})

t.test('refuses an envelope whose fields are of the wrong kind', async (t) => {
  t.equal(
    refusal({ ...key, batch: [event], historical_migration: 'true' }),
    'payload_unparseable: failed to parse request: historical_migration must be true or false',
  )
  t.equal(
    refusal({ ...key, batch: { event: 'e' } }),
    'payload_unparseable: failed to parse request: batch must be an array',
  )
})

t.test('marks a historical batch and keeps its order and timestamps', async (t) => {
  // INGESTION case 92
  const batch = [
    { ...event, event: 'b', timestamp: '2023-01-02T00:00:00Z' },
    { ...event, event: 'a', timestamp: '2023-01-01T00:00:00Z' },
  ]
  const body = { ...key, batch, historical_migration: true, sent_at: '2024-05-01T11:00:00Z' }
  t.equal(captured(body).historical, true)
  t.same(
    rows(body).map((one) => [one.event, one.micros]),
    [
      ['b', Date.UTC(2023, 0, 2) * 1000],
      ['a', Date.UTC(2023, 0, 1) * 1000],
    ],
  )
  const undated = captured({ ...key, batch: [event], historical_migration: true })
  t.same(warningsOf(undated), { timestamp_missing: 1 })
})

t.test('stores nothing for a project over its quota', async (t) => {
  // INGESTION case 93, at this level
  const outcome = captured({ api_key: 'phc_over', batch: [event, 1, {}] })
  t.same([outcome.projectId, outcome.parts, dropsOf(outcome)], [3, [], { over_quota: 3 }])
  const past = captured({ api_key: 'phc_over', batch: [event], historical_migration: true })
  t.same([past.eventCount, dropsOf(past)], [1, {}])
})

t.test('keeps one event from costing others when it nests too deep', async (t) => {
  const deep = (depth: number) =>
    `{"event":"d","distinct_id":"u","x":${'['.repeat(depth)}${']'.repeat(depth)}}`
  const outcome = captured(`{"api_key":"phc_test","batch":[${deep(128)},${deep(127)},${deep(1_000_000)}]}`)
  t.same([outcome.eventCount, dropsOf(outcome)], [1, { event_too_deep: 2 }])
  const inProperties = (depth: number) => ({
    ...event,
    properties: { a: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) },
  })
  t.same(dropsOf(captured({ ...key, batch: [inProperties(127)] })), { event_too_deep: 1 })
  t.same(dropsOf(captured({ ...key, batch: [inProperties(126)] })), {})
})

t.test('drops an event whose properties are too long', async (t) => {
  const limits = { ...task('').limits, eventBytesMax: 40 }
  const sized = (size: number) => ({ ...event, properties: { a: 'x'.repeat(size - '{"a":""}'.length) } })
  const outcome = captured({ ...key, batch: [sized(40), sized(41)] }, { limits })
  t.same([outcome.eventCount, dropsOf(outcome)], [1, { event_too_big: 1 }])
  for (const key of ['$set', '$set_once', '$unset']) {
    const batch = [30, 31].map((size) => ({ ...sized(10), [key]: sized(size).properties }))
    t.same(dropsOf(captured({ api_key: 'phc_test', batch }, { limits })), { event_too_big: 1 }, key)
  }
})

t.test('shows the last event of each drop reason, cut and without properties', async (t) => {
  const batch = [
    { event: 'first', properties: { secret: 1 } },
    { event: 'n'.repeat(300), properties: { secret: 2 } },
    { event: 'last', uuid: 'x', distinct_id: { a: 'secret' } },
  ]
  t.same(captured({ ...key, batch }).drops, [
    {
      reason: 'distinct_id_missing',
      count: 2,
      sample: { event: 'n'.repeat(200), distinctId: '', detail: 'event submitted without a distinct_id' },
    },
    {
      reason: 'uuid_invalid',
      count: 1,
      sample: { event: 'last', distinctId: '', detail: 'uuid must be a UUID, an empty string or null' },
    },
  ])
})

t.test('reads events behind the end of its tape', async (t) => {
  // Some 20,000 records of a busy event fill the tape.
  const busy = { ...event, properties: Object.fromEntries(busyKeys.map((name) => [name, 1])) }
  const body = JSON.stringify({
    batch: Array.from({ length: 30_000 }, (_, index) => ({ ...busy, event: `e${index}` })),
    ...key,
  })
  const outcome = captured(body)
  t.equal(outcome.eventCount, 30_000)
  const names = rows(body).map((one) => one.event)
  t.same([names[0], names[15_000], names[29_999]], ['e0', 'e15000', 'e29999'])
  t.equal(new Set(names).size, 30_000)
})

const busyKeys =
  '$os $os_version $browser $browser_version $device_type $current_url $pathname $referrer $session_id'
    .concat(
      ' $referring_domain $screen_height $screen_width $viewport_height $viewport_width $raw_user_agent token',
    )
    .split(' ')

t.test('takes a body that is only small objects', async (t) => {
  const outcome = captured(`{"api_key":"phc_test","batch":[${'{},'.repeat(999_999)}{}]}`)
  t.same(dropsOf(outcome), { event_name_missing: 1_000_000 })
})

t.test('stamps the envelope: size, beacon, project', async (t) => {
  const outcome = captured({ ...key, batch: [event] }, { query: 'beacon=1' })
  t.same([outcome.beacon, outcome.projectId, outcome.decompressedBytes], [true, 1, 64])
  t.equal(now, 1714564800000)
  t.same(propertiesOf(event), { $ip: '203.0.113.7' })
})

t.test('gives the memory of a large inflated body back at once', async (t) => {
  const text = `{"api_key":"phc_test","batch":[{"event":"e","distinct_id":"u"}${' '.repeat(50_000_000)}]}`
  const body = new Uint8Array(gzipSync(text))
  const before = process.memoryUsage().arrayBuffers
  t.equal(captured('', { body, contentEncoding: 'gzip' }).eventCount, 1)
  t.ok(process.memoryUsage().arrayBuffers - before < 10_000_000)
})
