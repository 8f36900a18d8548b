import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openGeoip } from '../../src/geoip/database.ts'
import { weekStartAt } from '../../src/management/week-start.ts'
import { ids, jsonOf, openWorld } from '../api/world.ts'
import { mmdbFile } from '../support/mmdb.ts'

const countries = { '192.0.2.1/32': 'US', '192.0.2.2/32': 'DE', '192.0.2.3/32': 'EG', '192.0.2.4/32': 'SA' }
const records = Object.entries(countries).map(([network, code]) => [network, { country: { iso_code: code } }])
const file = join(t.testdir(), 'city.mmdb')
writeFileSync(file, mmdbFile('GeoLite2-City', Object.fromEntries(records), 4))
const geoip = openGeoip(file)?.files ?? null

t.test('weeks begin on Sunday or on Monday, by country', async (t) => {
  const days = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', 'nowhere'].map((address) =>
    weekStartAt(geoip, address),
  )
  t.strictSame(days, [0, 1, 1, 0, null, null])
  t.equal(weekStartAt(null, '192.0.2.1'), null)
})

t.test('a new project has the week of the country it is made from, unless it says otherwise', async (t) => {
  const world = await openWorld(t, { geoip })
  const make = async (address: string, body: object) => {
    const reply = await fetch(
      `http://127.0.0.1:${world.server.port}/api/organizations/${ids.ours}/projects/`,
      {
        method: 'POST',
        headers: {
          authorization: 'Bearer phx_owner',
          'content-type': 'application/json',
          'x-forwarded-for': `${address}, 192.0.2.2`,
        },
        body: JSON.stringify(body),
      },
    )
    const { id, week_start_day } = (await reply.json()) as { id: number; week_start_day: unknown } // a project
    t.equal(jsonOf(await world.get(`/api/projects/${id}/`)).week_start_day, week_start_day)
    return week_start_day
  }
  t.equal(await make('192.0.2.1', {}), 0)
  t.equal(await make('192.0.2.2', { name: 'Berlin' }), 1)
  t.equal(await make('192.0.2.9', {}), null)
  t.equal(await make('192.0.2.1', { week_start_day: 1 }), 1)
  t.equal(await make('192.0.2.1', { week_start_day: null }), null)
})
