// Several projects on one server: a key opens its own project and nothing else, with the project's own settings.

import pg from 'pg'
import t from 'tap'
import type { StoredEvent } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { event, single } from './requests.ts'

const server = await startServer(t)
const secondKey = 'phc_second_project'

/** Makes a second project beside the first, in the same organization, and returns its id. */
async function makeProject(): Promise<number> {
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: number }>(
      `insert into project (uuid, organization_id, api_token, anonymize_ips)
       select gen_random_uuid(), id, $1, true from organization returning id`,
      [secondKey],
    )
    return rows[0]?.id ?? 0
  } finally {
    await client.end()
  }
}

const secondId = await makeProject()

async function storedInSecond(distinctId: string): Promise<StoredEvent[]> {
  await server.settled()
  const reply = await server.get(`/api/projects/${secondId}/events/?distinct_id=${distinctId}`)
  // The shape of the events list.
  return (JSON.parse(reply.text) as { results: StoredEvent[] }).results
}

t.test('a project made a moment ago takes events, and only it has them', async (t) => {
  const reply = await server.post('/batch/', single('apart', { api_key: secondKey, properties: { a: 1 } }))
  t.equal(reply.status, 200)
  t.match(await storedInSecond('apart'), [{ event: 'e', properties: { a: 1 } }])
  t.same(await server.storedEvents({ distinct_id: 'apart' }), [])
})

t.test('the same uuid may be used in two projects', async (t) => {
  const uuid = '0190d5a1-0000-4000-8000-000000000001'
  await server.post('/e/', single('same-uuid', { uuid }))
  await server.post('/e/', single('same-uuid', { uuid, api_key: secondKey }))
  t.equal((await server.storedEvents({ distinct_id: 'same-uuid' })).length, 1)
  t.equal((await storedInSecond('same-uuid')).length, 1)
})

t.test('a project that anonymizes addresses stores no $ip, not even a sent one (case 64)', async (t) => {
  const properties = { $ip: '198.51.100.9', kept: true }
  await server.post('/e/', single('anonymous-ip', { api_key: secondKey, properties }))
  await server.post('/e/', single('anonymous-ip', { api_key: secondKey }), {
    'x-forwarded-for': '203.0.113.7',
  })
  const rows = await storedInSecond('anonymous-ip')
  t.same(
    rows.map((row) => row.properties),
    [{}, { kept: true }],
  )
})

t.test('the keys of two projects in one array are refused (case 26)', async (t) => {
  const reply = await server.post('/e/', [
    single('mixed'),
    single('mixed', { api_key: secondKey }),
    event('mixed'),
  ])
  t.equal(reply.status, 401)
  t.equal(reply.text, 'batch submitted with inconsistent api_key values')
  t.same(await storedInSecond('mixed'), [])
  t.same(await server.storedEvents({ distinct_id: 'mixed' }), [])
})
