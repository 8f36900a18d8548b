// With a database of addresses, events, persons and flags know where somebody is.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { databaseOf, defineFlags } from '../support/definitions.ts'
import { berlin, london, mmdbFile } from '../support/mmdb.ts'
import { startServer } from '../support/server.ts'
import { batch, event, single } from './requests.ts'

const folder = mkdtempSync(join(tmpdir(), 'spate-geoip-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'city.mmdb')
const records = {
  '81.2.69.0/24': london,
  '85.214.132.0/24': berlin,
  '192.168.0.0/16': london,
  '127.0.0.0/8': london,
}
writeFileSync(file, mmdbFile('GeoLite2-City', records, 6))
const server = await startServer(t, { env: { GEOIP_CITY_DB: file } })
const postgres = databaseOf(t, server)
const inLondon = { 'x-forwarded-for': '81.2.69.160:4711, 10.0.0.1' }
const place = {
  $geoip_city_name: 'London',
  $geoip_country_name: 'United Kingdom',
  $geoip_country_code: 'GB',
  $geoip_continent_name: 'Europe',
  $geoip_continent_code: 'EU',
  $geoip_postal_code: 'EC1A',
  $geoip_latitude: 51.5142,
  $geoip_longitude: -0.0931,
  $geoip_accuracy_radius: 100,
  $geoip_time_zone: 'Europe/London',
  $geoip_subdivision_1_code: 'ENG',
  $geoip_subdivision_1_name: 'England',
}

/** The stored properties of the only event of `distinctId`. */
async function propertiesOf(distinctId: string): Promise<unknown> {
  const [only] = await server.storedEvents({ distinct_id: distinctId })
  return only?.properties
}

t.test('an event gets the place of its sender', async (t) => {
  await server.post('/e/', single('sender', { properties: { a: 1 } }), inLondon)
  t.same(await propertiesOf('sender'), { a: 1, $ip: '81.2.69.160', ...place })
})

t.test('or that of its own address, and a place it brings gives way', async (t) => {
  const properties = { $ip: '85.214.132.117', $geoip_city_name: 'Nowhere', $geoip_accuracy_radius: 5, b: 2 }
  await server.post('/e/', single('own', { properties }), inLondon)
  t.same(await propertiesOf('own'), {
    $ip: '85.214.132.117',
    b: 2,
    $geoip_city_name: 'Berlin',
    $geoip_country_name: 'Germany',
    $geoip_country_code: 'DE',
    $geoip_continent_name: 'Europe',
    $geoip_continent_code: 'EU',
    $geoip_postal_code: '10115',
    $geoip_latitude: 52.52,
    $geoip_longitude: 13.405,
    $geoip_time_zone: 'Europe/Berlin',
    $geoip_subdivision_1_name: 'Land Berlin',
  })
})

t.test('an event that does not want it, or whose address nobody knows, keeps what it brings', async (t) => {
  const brought = { $geoip_city_name: 'Rome' }
  const kept: [string, object][] = [
    ['disabled', { $geoip_disable: true, ...brought }],
    ['disabled by a word', { $geoip_disable: 'yes', ...brought }],
    ['unknown', { $ip: '203.0.113.9', ...brought }],
    ['no address', { $ip: 7, ...brought }],
  ]
  for (const [id, properties] of kept) {
    await server.post('/e/', single(id, { properties }), inLondon)
    t.match(await propertiesOf(id), brought, id)
    t.notOk('$geoip_country_code' in ((await propertiesOf(id)) as object), id)
  }
  for (const off of [false, null, 0, '']) {
    await server.post(
      '/e/',
      single(`not ${JSON.stringify(off)}`, { properties: { $geoip_disable: off } }),
      inLondon,
    )
    t.match(await propertiesOf(`not ${JSON.stringify(off)}`), place)
  }
})

t.test('a large batch is enriched in the pool as well', async (t) => {
  const properties = { text: 'x'.repeat(2000), $process_person_profile: false }
  const events = Array.from({ length: 20 }, () => event('pooled', { properties }))
  await server.post('/batch/', batch(...events), inLondon)
  const stored = await server.storedEvents({ distinct_id: 'pooled' })
  t.equal(stored.length, 20)
  for (const one of stored) t.match(one.properties, place)
})

t.test('a person is where they were last, and has been where they were first', async (t) => {
  const identify = (headers: Record<string, string>) =>
    server.post('/e/', single('traveller', { event: '$identify', properties: { $set: { n: 1 } } }), headers)
  await identify(inLondon)
  await identify({ 'x-forwarded-for': '85.214.132.117' })
  await server.settled()
  const { rows } = await postgres.query<{ properties: Record<string, unknown> }>(
    `select properties from person join person_distinct_id d on d.person_uuid = uuid where d.distinct_id = 'traveller'`,
  )
  t.match(rows[0]?.properties, {
    $geoip_city_name: 'Berlin',
    $geoip_subdivision_1_code: null,
    $initial_geoip_city_name: 'London',
    $initial_geoip_subdivision_1_code: 'ENG',
  })
})

t.test('a project that makes addresses anonymous stores no places', async (t) => {
  await postgres.query('update project set anonymize_ips = true where id = 1')
  let properties: object = place
  for (let round = 0; '$geoip_country_code' in properties; round++) {
    await server.post('/e/', single(`anonymous-${round}`), inLondon)
    properties = (await propertiesOf(`anonymous-${round}`)) as object
  }
  t.same(properties, {})
  await postgres.query('update project set anonymize_ips = false where id = 1')
})

t.test('flags are evaluated with the place of whoever asks', async (t) => {
  const seven = Object.entries(place).filter(([key]) => !/latitude|longitude|radius|subdivision/.test(key))
  t.equal(seven.length, 7)
  const properties = seven.map(([key, value]) => ({ key, value, type: 'person' }))
  const other = { key: '$geoip_latitude', operator: 'is_not_set', type: 'person' }
  await defineFlags(server, postgres, [
    { key: 'in-london', filters: { groups: [{ properties: [...properties, other] }] } },
  ])
  const isOn = async (headers: Record<string, string>, more: object = {}): Promise<unknown> => {
    const body = { api_key: server.projectApiKey, distinct_id: 'asker', ...more }
    return JSON.parse((await server.post('/decide/?v=3', body, headers)).text).featureFlags['in-london']
  }
  t.equal(await isOn(inLondon), true)
  t.equal(await isOn({ HTTP_X_FORWARDED_FOR: '81.2.69.160' }), true)
  t.equal(await isOn({ 'x-forwarded-for': '85.214.132.117' }), false)
  t.equal(await isOn(inLondon, { geoip_disable: true }), false)
  t.equal(await isOn(inLondon, { person_properties: { $geoip_city_name: 'Leeds' } }), false)
  t.equal(await isOn({ 'x-forwarded-for': '192.168.7.7' }), false, 'at home')
  t.equal(await isOn({ 'x-forwarded-for': '::ffff:192.168.7.7' }), false, 'at home, too')
  t.equal(await isOn({ 'x-forwarded-for': '::FFFF:81.2.69.160' }), true)
  t.equal(await isOn({ 'x-forwarded-for': '[::ffff:81.2.69.160]:4711' }), true)
  t.equal(await isOn({ 'x-forwarded-for': 'unknown, 81.2.69.160' }), false, 'the first entry counts')
  t.equal(await isOn({}), false, '127.0.0.1')
})
