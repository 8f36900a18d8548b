import t from 'tap'
import { captured, dropsOf, propertiesOf, row, rows, warningsOf } from './tasks.ts'

const event = { event: 'e', distinct_id: 'u' }

/** The stored row of a batch that says when it was sent. */
function sent(sentAt: string, properties: object = {}, timestamp = '2024-05-01T11:00:00Z') {
  const [only] = rows({ api_key: 'phc_test', sent_at: sentAt, batch: [{ ...event, timestamp, properties }] })
  return new Date((only?.micros ?? 0) / 1000).toISOString()
}

function time(fields: object, query = ''): string {
  return new Date(row({ ...event, ...fields }, { query }).micros / 1000).toISOString()
}

function person(fields: object) {
  const text = row({ ...event, ...fields }).person
  return text === '' ? null : JSON.parse(text)
}

function warnings(fields: object) {
  return warningsOf(captured({ api_key: 'phc_test', batch: [{ ...event, ...fields }] }))
}

function drops(fields: object) {
  return dropsOf(captured({ api_key: 'phc_test', batch: [{ ...event, ...fields }] }))
}

t.test('makes an uuid of version 7 with the time of an event that has none', async (t) => {
  // INGESTION case 39
  for (const uuid of ['', null, undefined]) {
    const made = row({ ...event, uuid, timestamp: '2024-05-01T11:00:00Z' })
    t.match(made.uuid, /^018f33cf-af80-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    t.same([made.dedupKey, made.flags], [[0, 0], []])
  }
})

t.test('keeps the uuid of the client and derives a key from it', async (t) => {
  const kept = row({ ...event, uuid: '018F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6A' })
  t.same([kept.uuid, kept.flags], ['018f3c29-ffff-7d3e-9a4b-1f2e3d4c5b6a', ['clientUuid']])
  t.not(kept.dedupKey[0], 0)
  const same = row({ ...event, uuid: '018f3c29ffff7d3e9a4b1f2e3d4c5b6a', properties: { a: 1 } })
  t.same(same.dedupKey, kept.dedupKey)
  for (const other of [
    { event: 'f' },
    { distinct_id: 'v' },
    { uuid: '018f3c29-ffff-7d3e-9a4b-1f2e3d4c5b6b' },
  ]) {
    t.notSame(row({ ...event, uuid: kept.uuid, ...other }).dedupKey, kept.dedupKey)
  }
})

t.test('stores every kind of distinct_id as text', async (t) => {
  // INGESTION case 43
  const id = (distinct_id: unknown) => row({ event: 'e', distinct_id }).distinctId
  t.equal(id(23), '23')
  t.equal(id(23.4), '23.4')
  t.equal(id(['a', 'b']), '["a","b"]')
  t.equal(id({ string: 'a', number: 3 }), '{"number":3,"string":"a"}')
  t.equal(id(true), 'true')
  t.equal(id('  u '), '  u ')
  t.equal(id('日本😀'), '日本😀')
})

t.test('copies a number as distinct_id digit by digit', async (t) => {
  const body = '{"api_key":"phc_test","event":"e","distinct_id":12345678901234567890}'
  t.equal(rows(body)[0]?.distinctId, '12345678901234567890')
})

t.test('prefers the distinct_id of the top level to that of properties', async (t) => {
  // INGESTION case 44
  t.equal(row({ event: 'e', distinct_id: 23, properties: { distinct_id: 'myid' } }).distinctId, '23')
  t.equal(row({ event: 'e', $distinct_id: 'a', properties: { distinct_id: 'myid' } }).distinctId, 'a')
  t.equal(row({ event: 'e', distinct_id: null, properties: { distinct_id: 'myid' } }).distinctId, 'myid')
  t.equal(row({ event: 'e', properties: { distinct_id: 7 } }).distinctId, '7')
})

t.test('cuts a distinct_id to 200 characters', async (t) => {
  // INGESTION case 45
  const id = (distinct_id: unknown) => row({ event: 'e', distinct_id }).distinctId
  t.equal(id('x'.repeat(222)), 'x'.repeat(200))
  t.equal(id('😀'.repeat(200)), '😀'.repeat(200))
  t.equal(id('😀'.repeat(201)), '😀'.repeat(200))
})

t.test('replaces what no store can hold', async (t) => {
  // INGESTION case 46
  t.equal(row({ event: 'e', distinct_id: 'a\0b' }).distinctId, 'a\ufffdb')
  t.equal(row({ event: 'e\ud800', distinct_id: 'u' }).event, 'e\ufffd')
  t.same(propertiesOf({ ...event, properties: { 'k\0': [{ '\udc00': '\0' }] } }), {
    'k\ufffd': [{ '\ufffd': '\ufffd' }],
    $ip: '203.0.113.7',
  })
})

t.test('takes a blank distinct_id for a missing one', async (t) => {
  // INGESTION case 47
  for (const distinct_id of ['\t\n', ' ', '\u2003', ''])
    t.same(drops({ distinct_id }), { distinct_id_missing: 1 })
  t.same(drops({ distinct_id: '', properties: { distinct_id: 'u' } }), { distinct_id_missing: 1 })
})

t.test('cuts an event name to 200 UTF-16 units without splitting a character', async (t) => {
  // INGESTION case 48
  const name = (text: string) => row({ event: text, distinct_id: 'u' }).event
  t.equal(name('x'.repeat(250)), 'x'.repeat(200))
  t.equal(name('é'.repeat(201)), 'é'.repeat(200))
  t.equal(name('😀'.repeat(100)), '😀'.repeat(100))
  t.equal(name(`x${'😀'.repeat(100)}`), `x${'😀'.repeat(99)}`)
  t.equal(name('  '), '  ')
})

t.test("takes the error of the sender's clock off", async (t) => {
  // INGESTION cases 49, 50, 51, 52
  t.equal(sent('2024-05-01T12:00:10Z'), '2024-05-01T10:59:50.000Z')
  t.equal(sent('2024-05-01T11:59:50Z'), '2024-05-01T11:00:10.000Z')
  t.equal(sent('2024-05-01T12:00:10Z', { $ignore_sent_at: true }), '2024-05-01T11:00:00.000Z')
  const [undated] = rows({ api_key: 'phc_test', sent_at: '2024-05-01T12:00:10Z', batch: [event] })
  t.equal(undated?.micros, 1714564800000000)
})

t.test('takes now for a timestamp that cannot be read', async (t) => {
  // INGESTION case 53
  t.equal(time({ timestamp: 'not a date' }), '2024-05-01T12:00:00.000Z')
  t.same(warnings({ timestamp: 'not a date' }), { timestamp_unparseable: 1 })
})

t.test('counts an offset back from now', async (t) => {
  // INGESTION case 54
  t.equal(time({ offset: 5000 }), '2024-05-01T11:59:55.000Z')
})

t.test('reads when a request was sent from the query, in milliseconds', async (t) => {
  // INGESTION case 55
  const timestamp = '2024-05-01T11:00:00Z'
  t.equal(time({ timestamp }, '_=1714564810000'), '2024-05-01T10:59:50.000Z')
  t.equal(time({ timestamp }, '_=1714564810'), '2024-05-01T11:00:00.000Z')
})

t.test('reads the sent_at of Python, and timestamps without zone', async (t) => {
  // INGESTION cases 56, 57, 58
  t.equal(sent('2024-05-01T12:00:00.123456+00:00'), '2024-05-01T10:59:59.877Z')
  t.equal(time({ timestamp: '2023-01-01T12:00:00' }), '2023-01-01T12:00:00.000Z')
  t.equal(time({ timestamp: '+010000-01-01T00:00:00Z' }), '1970-01-01T00:00:00.000Z')
})

t.test("merges the top level's $set into that of properties, the top level prevailing", async (t) => {
  // INGESTION case 59
  const both = { $set: { a: 1 }, $set_once: { x: 1 }, properties: { $set: { a: 2, b: 3 } } }
  t.same(propertiesOf({ ...event, ...both }), {
    $set: { a: 1, b: 3 },
    $set_once: { x: 1 },
    $ip: '203.0.113.7',
  })
  t.same(person(both), { $set: { a: 1, b: 3 }, $set_once: { x: 1 } })
  t.same(person({ $unset: ['a'], properties: { $unset: ['b'] } }), { $unset: ['b', 'a'] })
  t.same(person({ $unset: { a: 1 }, properties: { $unset: ['b'] } }), { $unset: { a: 1 } })
})

t.test('hands mapped properties to the persons, as they were sent', async (t) => {
  // INGESTION cases 60, 61
  const properties = { $os_name: 'iOS', utm_source: 'x', plan: 'pro', $current_url: 'https://example.com/' }
  t.same(person({ event: '$pageview', properties }), {
    $os_name: 'iOS',
    utm_source: 'x',
    $current_url: 'https://example.com/',
  })
  t.equal(person({ event: '$snapshot', properties }), null)
})

t.test('hands ids and groups to the persons only with the events that use them', async (t) => {
  const properties = { $anon_distinct_id: 'a', alias: 'b', $group_type: 'c', $group_key: 'd', $group_set: {} }
  t.equal(person({ properties }), null)
  t.same(person({ event: '$identify', properties }), { $anon_distinct_id: 'a' })
  t.same(person({ event: '$create_alias', properties }), { alias: 'b' })
  t.same(person({ event: '$merge_dangerously', properties }), { alias: 'b' })
  t.same(person({ event: '$groupidentify', properties: { ...properties, $set: { x: 1 }, $browser: 'B' } }), {
    $group_type: 'c',
    $group_key: 'd',
    $group_set: {},
  })
  t.same(person({ properties: { $groups: { company: 'acme' } } }), { $groups: { company: 'acme' } })
  t.equal(person({ properties: { $groups: ['acme'] } }), null)
})

t.test('stores an event whose $set is no object, and hands no $set on', async (t) => {
  // INGESTION case 62
  t.same(propertiesOf({ ...event, properties: { $set: 'oops' } }), { $set: 'oops', $ip: '203.0.113.7' })
  t.equal(person({ properties: { $set: 'oops', $set_once: [1] } }), null)
  t.same(warnings({ properties: { $set: 'oops' } }), { set_malformed: 1 })
})

t.test('writes a session id that is a UUID in lower case', async (t) => {
  // INGESTION case 63
  const session = ($session_id: unknown) =>
    propertiesOf({ ...event, properties: { $session_id } }).$session_id
  t.equal(session('018F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6A'), '018f3c29-ffff-7d3e-9a4b-1f2e3d4c5b6a')
  t.equal(session('018F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6X'), '018F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6X')
  t.equal(session('ABC'), 'ABC')
  const escaped = '{"\\u0024session_id":"018F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6\\u0041"}'
  const [stored] = rows(`{"api_key":"phc_test","event":"e","distinct_id":"u","properties":${escaped}}`)
  t.match(JSON.parse(stored?.properties ?? ''), { $session_id: '018f3c29-ffff-7d3e-9a4b-1f2e3d4c5b6a' })
})

t.test("stores the client's address unless the project does not want it", async (t) => {
  // INGESTION case 64
  const ip = (properties: object, key = 'phc_test', clientIp = '203.0.113.7') => {
    const [only] = rows({ api_key: key, batch: [{ ...event, properties }] }, { clientIp })
    return JSON.parse(only?.properties ?? '').$ip
  }
  t.equal(ip({}), '203.0.113.7')
  t.equal(ip({ $ip: '1.2.3.4' }), '1.2.3.4')
  t.equal(ip({ $ip: null }), '203.0.113.7')
  t.equal(ip({}, 'phc_private'), undefined)
  t.equal(ip({ $ip: '1.2.3.4' }, 'phc_private'), undefined)
  t.equal(ip({}, 'phc_test', ''), undefined)
  t.equal(ip({ capture_internal: true }), '127.0.0.1')
})

t.test('takes a $process_person_profile that is no boolean for true, with a warning', async (t) => {
  // INGESTION case 65
  const fields = { properties: { $process_person_profile: 'false', $set: { a: 1 } } }
  t.same(row({ ...event, ...fields }).flags, [])
  t.same(person(fields), { $set: { a: 1 } })
  t.same(warnings(fields), { process_person_profile_invalid: 1 })
  t.same(propertiesOf({ ...event, properties: { $process_person_profile: true } }), { $ip: '203.0.113.7' })
})

t.test('keeps persons and groups out of an anonymous event', async (t) => {
  const properties = {
    $process_person_profile: false,
    $set: { a: 1 },
    $set_once: { a: 1 },
    $unset: ['a'],
    $group_0: 'x',
    $group_4: 'y',
    $group_5: 'z',
    $browser: 'Chrome',
  }
  const stored = row({ ...event, $set: { b: 1 }, properties })
  t.same(JSON.parse(stored.properties), {
    $process_person_profile: false,
    $group_5: 'z',
    $browser: 'Chrome',
    $ip: '203.0.113.7',
  })
  t.same([stored.person, stored.flags], ['', ['anonymous']])
})

t.test('stores nothing of the fields that old SDKs add at the top level', async (t) => {
  // INGESTION case 66
  const old = {
    ...event,
    type: 'capture',
    library: 'posthog-node',
    library_version: '1.0.0',
    properties: { a: 1 },
  }
  t.same(propertiesOf(old), { a: 1, $ip: '203.0.113.7' })
})

t.test('drops identity events without person processing', async (t) => {
  // INGESTION case 84
  for (const name of ['$identify', '$create_alias', '$merge_dangerously', '$groupidentify']) {
    const fields = { event: name, properties: { $process_person_profile: false, $anon_distinct_id: 'a' } }
    t.same(drops(fields), { person_processing_disabled: 1 })
  }
})

t.test('drops a $groupidentify whose key is too long', async (t) => {
  // INGESTION case 89
  const group = (key: string) => ({
    event: '$groupidentify',
    properties: { $group_type: 'company', $group_key: key, $group_set: {} },
  })
  t.same(drops(group('k'.repeat(401))), { group_key_too_long: 1 })
  t.same(drops(group('k'.repeat(400))), {})
  t.same(drops(group('é'.repeat(400))), {})
  t.same(drops({ properties: { $group_key: 'k'.repeat(401) } }), {})
})

t.test('drops cookieless events, and never makes a person of their sentinel', async (t) => {
  t.same(drops({ properties: { $cookieless_mode: true } }), { cookieless_mode_off: 1 })
  t.same(drops({ distinct_id: '$posthog_cookieless' }), { cookieless_mode_off: 1 })
  t.same(drops({ properties: { $cookieless_mode: false } }), {})
})

t.test('removes $performance_event and turns a client warning into one of ours', async (t) => {
  t.same(drops({ event: '$performance_event' }), { performance_event: 1 })
  const outcome = captured({
    api_key: 'phc_test',
    batch: [{ ...event, event: '$$client_ingestion_warning' }],
  })
  t.same([outcome.eventCount, outcome.drops, warningsOf(outcome)], [0, [], { client_ingestion_warning: 1 }])
})

t.test('stores an event that lacks what its name asks for, with a warning that names it', async (t) => {
  const missing = (name: string, properties: object) =>
    captured({ api_key: 'phc_test', batch: [{ ...event, event: name, properties }] }).warnings[0]?.sample
      .detail
  t.equal(missing('$pageview', {}), 'missing: $current_url')
  t.equal(missing('$pageview', { $current_url: 5 }), 'missing: $current_url')
  t.equal(missing('$pageview', { $current_url: '/' }), undefined)
  t.equal(missing('$screen', {}), 'missing: $screen_name')
  t.equal(missing('$identify', {}), 'missing: $set')
  t.equal(missing('$create_alias', { alias: 5 }), 'missing: alias')
  t.equal(missing('$groupidentify', { $group_type: 'a' }), 'missing: $group_key, $group_set')
  t.equal(missing('survey sent', { $survey_id: '1' }), 'missing: $survey_response')
  t.equal(missing('survey shown', {}), 'missing: $survey_id')
  t.equal(missing('survey dismissed', { $survey_id: '1' }), undefined)
  t.equal(missing('$feature_flag_called', {}), 'missing: $feature_flag, $feature_flag_response')
  const unknownFlag = { $feature_flag: 'off', $feature_flag_response: null }
  t.equal(
    missing('$feature_flag_called', unknownFlag),
    undefined,
    'an SDK says null of a flag without a value',
  )
  t.equal(missing('$feature_flag_called', { ...unknownFlag, $feature_flag: null }), 'missing: $feature_flag')
  t.equal(missing('custom', {}), undefined)
})

t.test('re-prints no value', async (t) => {
  const properties = '{ "big" : 12345678901234567890 , "far":1e400,"price":1.10,"text":"\\u00e9\\/" }'
  const [only] = rows(`{"api_key":"phc_test","event":"e","distinct_id":"u","properties":${properties}}`)
  t.equal(
    only?.properties,
    '{ "big" : 12345678901234567890 , "far":1e400,"price":1.10,"text":"\\u00e9\\/" ,"$ip":"203.0.113.7"}',
  )
})

t.test('lets the last of repeated keys hold', async (t) => {
  const properties = '{"a":1,"__proto__":1,"b":{"c":1,"c":2},"\\u0061":2,"__proto__":{"x":1}}'
  const fields = `"event":"first","event":"e","distinct_id":"u","properties":{"z":1},"properties":${properties}`
  const [only] = rows(`{"api_key":"phc_test",${fields}}`)
  t.equal(only?.event, 'e')
  t.equal(only?.properties, '{"b":{"c":1,"c":2},"\\u0061":2,"__proto__":{"x":1},"$ip":"203.0.113.7"}')
})

t.test('resolves repeated keys among thousands', async (t) => {
  const entries = Array.from({ length: 5000 }, (_, index) => `"key ${index % 4000}":${index}`)
  const [only] = rows(`{"api_key":"phc_test","event":"e","distinct_id":"u","properties":{${entries.join()}}}`)
  const stored = JSON.parse(only?.properties ?? '')
  t.equal(only?.properties.match(/"key /g)?.length, 4000)
  t.same(
    [stored['key 0'], stored['key 999'], stored['key 1000'], stored['key 3999']],
    [4000, 4999, 1000, 3999],
  )
})

t.test('moves elements into a column of their own', async (t) => {
  const chain = (properties: object) => row({ ...event, event: '$autocapture', properties }).elementsChain
  t.equal(chain({ $elements_chain: 'a:text="Go \\"now\\""' }), 'a:text="Go \\"now\\""')
  t.equal(chain({ $elements: [{ tag_name: 'a' }] }), 'a:nth-child="0"nth-of-type="0"')
  t.equal(chain({ $elements_chain: 'b', $elements: [{ tag_name: 'a' }] }), 'b')
  t.equal(chain({}), '')
  t.same(propertiesOf({ ...event, properties: { $elements: [], x: 1, $elements_chain: 'a' } }), {
    x: 1,
    $ip: '203.0.113.7',
  })
})

t.test('stores the byte that separates values as any other', async (t) => {
  t.equal(row({ event: 'a\u001eb', distinct_id: 'u' }).event, 'a\u001eb')
  t.equal(row({ event: 'e', distinct_id: '\u001e' }).distinctId, '\u001e')
  const properties = { a: '\u001e', $elements_chain: 'a\u001e' }
  t.equal(row({ ...event, properties }).elementsChain, 'a\u001e')
})

t.test('marks identity events and events with groups', async (t) => {
  t.same(row({ ...event, event: '$identify' }).flags, ['identity'])
  t.same(row({ ...event, properties: { $groups: { company: 'acme' } } }).flags, ['groups'])
})

t.test('knows the person an event is born to', async (t) => {
  const born = (distinct_id: string) => row({ event: 'e', distinct_id }).bornId
  t.equal(born('user-1'), '6931a681-6e90-500d-8294-14582dcc2e3f')
  t.equal(born('user-1'), '6931a681-6e90-500d-8294-14582dcc2e3f')
})

t.test('adds $sent_at in place of one the client sent', async (t) => {
  const body = {
    api_key: 'phc_test',
    sent_at: '2024-05-01T14:00:00+02:00',
    batch: [{ ...event, properties: { $sent_at: 1 } }],
  }
  t.equal(rows(body)[0]?.properties, '{"$ip":"203.0.113.7","$sent_at":"2024-05-01T12:00:00.000Z"}')
})
