import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { findPlace, openGeoip } from '../../src/geoip/database.ts'
import { berlin, london, mmdbFile } from '../support/mmdb.ts'

const folder = mkdtempSync(join(tmpdir(), 'spate-geoip-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

function written(name: string, bytes: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const londonPlace = {
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
const berlinPlace = {
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
}

t.test("a file of MaxMind's knows both kinds of addresses", async (t) => {
  const records = { '81.2.69.0/24': london, '2001:db8::/32': { country: { iso_code: 'XX' } } }
  const path = written('GeoLite2-City.mmdb', mmdbFile('GeoLite2-City', records, 6))
  const { files, describes } = openGeoip(path)!
  t.same(describes, ['GeoLite2-City of 2024-05-01, IPv6'])
  t.same(findPlace(files, '81.2.69.160'), londonPlace)
  t.same(findPlace(files, '::ffff:81.2.69.160'), londonPlace)
  t.same(findPlace(files, '2001:db8::5'), { $geoip_country_code: 'XX' }, 'what is not known is absent')
  for (const address of ['81.2.70.1', '2001:db9::1', '', 'localhost', '81.2.69.160:80', '1'.repeat(5000)]) {
    t.equal(findPlace(files, address), null, address.slice(0, 20))
  }
})

t.test('flat files may be two, and each is asked for its own kind', async (t) => {
  const v4 = written('v4.mmdb', mmdbFile('dbip-city', { '85.214.132.0/24': berlin }, 4))
  const v6 = written('v6.mmdb', mmdbFile('dbip-city', { '2a01:238::/32': { ...berlin, city: 'Köln' } }, 6))
  const { files } = openGeoip(`${v4}, ${v6}`)!
  t.same(findPlace(files, '85.214.132.117'), berlinPlace)
  t.same(findPlace(files, '2a01:238::1'), { ...berlinPlace, $geoip_city_name: 'Köln' })
  const { files: only } = openGeoip(v4)!
  t.equal(findPlace(only, '2a01:238::1'), null)
})

t.test('a file that is damaged inside knows nothing there, and no more', async (t) => {
  const whole = mmdbFile('GeoLite2-City', { '81.2.69.0/24': london }, 6)
  const name = whole.indexOf('London') - 1
  const damaged = Buffer.from(whole)
  damaged.fill(0xff, name - 20, name + 40)
  const { files } = openGeoip(written('damaged.mmdb', damaged))!
  t.equal(findPlace(files, '81.2.69.160'), null)
  t.equal(findPlace(files, '81.2.70.1'), null)
  const { files: sound } = openGeoip(written('sound.mmdb', whole))!
  for (const address of ['fe80::1%eth0', '::', '0.0.0.0', '255.255.255.255', '::ffff:5102:4601'])
    t.equal(findPlace(sound, address), null, address)
})

t.test('a place of empty fields is none', async (t) => {
  const empty = { city: '', country_code: '', postcode: '', timezone: '', latitude: '', longitude: '' }
  const path = written('empty.mmdb', mmdbFile('dbip-city', { '85.214.132.0/24': empty }, 4))
  t.equal(findPlace(openGeoip(path)!.files, '85.214.132.117'), null)
})

t.test('two openings in one process do not mix', async (t) => {
  const one = openGeoip(written('one.mmdb', mmdbFile('x', { '81.2.69.0/24': london }, 4)))!
  const other = openGeoip(written('other.mmdb', mmdbFile('x', { '81.2.69.0/24': berlin }, 4)))!
  t.match(findPlace(one.files, '81.2.69.1'), { $geoip_city_name: 'London' })
  t.match(findPlace(other.files, '81.2.69.1'), { $geoip_city_name: 'Berlin' })
  t.match(findPlace(one.files, '81.2.69.1'), { $geoip_city_name: 'London' })
})

t.test('without a setting and without a package there is none', async (t) => {
  t.equal(openGeoip(null), null)
})

t.test('a file that is not there, or is something else, stops the start', async (t) => {
  t.throws(() => openGeoip(join(folder, 'gone.mmdb')), { code: 'config_invalid', message: /cannot be read/ })
  const text = written('text.mmdb', Buffer.from('not a database at all, but long enough to look into'))
  t.throws(() => openGeoip(text), { code: 'config_invalid', message: /no MaxMind DB file/ })
})
