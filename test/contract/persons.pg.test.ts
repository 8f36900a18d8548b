// What captured events leave behind in Postgres: persons, groups, usage. The rules themselves are shown in
// test/identity; here they go the whole way, through HTTP, the journal and the persons thread.

import t from 'tap'
import { rowsOf } from '../support/cluster.ts'
import { startServer } from '../support/server.ts'
import { batch, event } from './requests.ts'

const server = await startServer(t)

async function send(...events: Parameters<typeof batch>): Promise<void> {
  const reply = await server.post('/batch/', batch(...events))
  if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${reply.text}`)
  await server.settled()
}

/** Persons with an id that begins with `prefix`, each with its ids. */
function personsOf(prefix: string): Promise<unknown[]> {
  return rowsOf(
    server.databaseUrl,
    `select p.uuid, p.is_identified, p.version::integer, p.properties - '$creator_event_uuid' as properties,
       array_agg(i.distinct_id order by i.distinct_id) as ids
     from person p join person_distinct_id i on i.project_id = p.project_id and i.person_uuid = p.uuid
     where p.project_id = 1 and i.distinct_id like '${prefix}%'
     group by p.project_id, p.uuid order by min(i.distinct_id)`,
  )
}

t.test('the first event of an id makes its person, the second changes nothing (cases 67, 75)', async (t) => {
  await send(event('user-1'))
  await send(event('user-1'))
  t.same(await personsOf('user-1'), [
    {
      uuid: '6931a681-6e90-500d-8294-14582dcc2e3f',
      is_identified: false,
      version: 0,
      properties: {},
      ids: ['user-1'],
    },
  ])
  t.same(await rowsOf(server.databaseUrl, 'select ingested_event from project'), [{ ingested_event: true }])
})

t.test('$identify joins what was anonymous with who it is (cases 61, 68, 74)', async (t) => {
  const identify = {
    event: '$identify',
    properties: { $anon_distinct_id: 'join-anon', $set: { plan: 'pro' }, $set_once: { first: 2 } },
  }
  await send(
    event('join-anon', { event: '$pageview', properties: { utm_source: 'x', $set_once: { first: 1 } } }),
    event('join-user', { properties: { $set: { plan: 'free', seats: 3 } } }),
    event('join-user', identify),
  )
  t.match(await personsOf('join-'), [
    {
      is_identified: true,
      properties: { utm_source: 'x', $initial_utm_source: 'x', first: 1, plan: 'pro', seats: 3 },
      ids: ['join-anon', 'join-user'],
    },
  ])
  const overrides = await rowsOf(
    server.databaseUrl,
    `select o.person_uuid = i.person_uuid as leads_to_user, c.kind
     from person_override o
     join person_distinct_id i on i.distinct_id = 'join-user'
     join store_change c on c.payload->>'bornId' = o.born_id::text`,
  )
  t.same(overrides, [{ leads_to_user: true, kind: 'override' }])
})

t.test('an anonymous event stores no person (case 81)', async (t) => {
  await send(event('nobody', { properties: { $process_person_profile: false, $set: { a: 1 } } }))
  t.same(await personsOf('nobody'), [])
})

t.test('$groupidentify makes a group and its type (case 85)', async (t) => {
  const change = (set: object) =>
    event('$company_acme', {
      event: '$groupidentify',
      properties: { $group_type: 'company', $group_key: 'acme', $group_set: set },
    })
  await send(change({ foo: 'bar' }))
  await send(change({ prop: 'value' }), event('user-1', { properties: { $groups: { team: 'blue' } } }))
  t.same(
    await rowsOf(
      server.databaseUrl,
      'select type_index, key, version::integer, properties from project_group',
    ),
    [{ type_index: 0, key: 'acme', version: 2, properties: { foo: 'bar', prop: 'value' } }],
  )
  t.same(await rowsOf(server.databaseUrl, 'select name, type_index from group_type order by type_index'), [
    { name: 'company', type_index: 0 },
    { name: 'team', type_index: 1 },
  ])
  t.same(await rowsOf(server.databaseUrl, 'select has_group_types from project'), [{ has_group_types: true }])
})

t.test('usage counts what was applied: no retries, history apart (decision 10)', async (t) => {
  const usage = async () =>
    (await rowsOf(
      server.databaseUrl,
      `select day::text, billable::integer, historical::integer from usage_daily`,
    )) as { day: string; billable: number; historical: number }[] // the columns of the statement
  const before = (await usage())[0]
  const retried = event('usage', { uuid: '00000000-0000-7000-8000-0000000000aa' })
  await send(retried)
  await send(retried)
  const past = { ...batch(event('usage'), event('usage')), historical_migration: true }
  t.equal((await server.post('/batch/', past)).status, 200)
  await server.settled()
  t.same(await usage(), [
    { day: '2024-05-01', billable: (before?.billable ?? 0) + 1, historical: (before?.historical ?? 0) + 2 },
  ])
})
