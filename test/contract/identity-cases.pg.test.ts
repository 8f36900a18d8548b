// What single events do to persons and groups, as their senders see it: the answer, and then the person, the group,
// the stored event and the ingestion warning, all by the management API.

import t, { type Test } from 'tap'
import { rowsOf } from '../support/cluster.ts'
import { startServer } from '../support/server.ts'
import { batch, event, type Fields } from './requests.ts'

const server = await startServer(t)

/** Sends a batch, sees it accepted, and waits until it is stored. */
async function send(t: Test, ...events: readonly Fields[]): Promise<void> {
  const reply = await server.post('/batch/', batch(...events))
  t.strictSame([reply.status, reply.text], [200, '{"status":"Ok"}'])
  await server.settled()
}

async function results(path: string, query: Readonly<Record<string, string>>): Promise<Fields[]> {
  const { status, text } = await server.get(`/api/projects/1/${path}/?${new URLSearchParams(query)}`)
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  // The list envelope; the tests below check the fields they read.
  return (JSON.parse(text) as { results: Fields[] }).results
}

interface Shown {
  readonly ids: unknown
  readonly isIdentified: unknown
  readonly properties: Fields
}

/** The person of a distinct_id, without what tells of its birth. */
async function personOf(distinctId: string): Promise<Shown | null> {
  const persons = await results('persons', { distinct_id: distinctId })
  const [person] = persons
  if (person === undefined) return null
  // The object that a person's properties are.
  const { $creator_event_uuid: _, ...properties } = person.properties as Fields
  return { ids: person.distinct_ids, isIdentified: person.is_identified, properties }
}

/** Name and properties of the stored events of a distinct_id, without the address they came from. */
async function eventsOf(distinctId: string): Promise<[string, Fields][]> {
  const rows = await server.storedEvents({ distinct_id: distinctId })
  return rows.map(({ event, properties: { $ip: _, ...properties } }) => [event, properties])
}

async function warningOf(reason: string): Promise<Fields | undefined> {
  return (await results('ingestion_warnings', { limit: '100' })).find((one) => one.reason === reason)
}

/** The groups of the only type, by key. */
async function groupsOf(search: string): Promise<unknown[]> {
  const groups = await results('groups', { group_type_index: '0', search })
  return groups.map(({ group_key, group_properties }) => [group_key, group_properties])
}

function groupChange(distinctId: string, properties: Fields): Fields {
  return event(distinctId, { event: '$groupidentify', properties: { $group_type: 'company', ...properties } })
}

t.test('the $set of an event goes before that of its properties (case 59)', async (t) => {
  await send(t, event('c59', { $set: { a: 1 }, properties: { $set: { a: 2, b: 3 } } }))
  t.strictSame(await personOf('c59'), { ids: ['c59'], isIdentified: false, properties: { a: 1, b: 3 } })
  t.strictSame(await eventsOf('c59'), [['e', { $set: { a: 1, b: 3 } }]])
})

t.test('$os_name stands in for $os on the person, and only there (case 60)', async (t) => {
  await send(t, event('c60', { properties: { $os_name: 'iOS' } }))
  t.strictSame(await personOf('c60'), {
    ids: ['c60'],
    isIdentified: false,
    properties: { $os: 'iOS', $initial_os: 'iOS' },
  })
  t.strictSame(await eventsOf('c60'), [['e', { $os_name: 'iOS' }]])
})

t.test('a $set that is text is stored, warned of, and sets nothing (case 62)', async (t) => {
  await send(t, event('c62', { properties: { $set: 'oops', $set_once: { first: 1 } } }))
  t.strictSame(await personOf('c62'), { ids: ['c62'], isIdentified: false, properties: { first: 1 } })
  t.strictSame(await eventsOf('c62'), [['e', { $set: 'oops', $set_once: { first: 1 } }]])
  t.match(await warningOf('set_malformed'), {
    type: 'warning',
    count: 1,
    sample: { event: 'e', distinct_id: 'c62', detail: '$set and $set_once must be objects' },
  })
})

t.test('$process_person_profile "false" is no false: the person is made (case 65)', async (t) => {
  await send(t, event('c65', { properties: { $process_person_profile: 'false', $set: { a: 1 } } }))
  t.strictSame(await personOf('c65'), { ids: ['c65'], isIdentified: false, properties: { a: 1 } })
  t.strictSame(await eventsOf('c65'), [['e', { $set: { a: 1 } }]])
  t.match(await warningOf('process_person_profile_invalid'), {
    type: 'warning',
    count: 1,
    sample: { event: 'e', distinct_id: 'c65', detail: '$process_person_profile must be a boolean' },
  })
})

t.test('$unset removes what a list or the keys of an object name (case 69)', async (t) => {
  const $set = { a: 1, b: 2 }
  await send(t, event('c69-list', { properties: { $set } }), event('c69-keys', { properties: { $set } }))
  await send(
    t,
    event('c69-list', { event: '$set', properties: { $unset: ['a'] } }),
    event('c69-keys', { event: '$set', properties: { $unset: { a: 1 } } }),
  )
  t.strictSame(await personOf('c69-list'), { ids: ['c69-list'], isIdentified: false, properties: { b: 2 } })
  t.strictSame(await personOf('c69-keys'), { ids: ['c69-keys'], isIdentified: false, properties: { b: 2 } })
  t.strictSame((await eventsOf('c69-list'))[1], ['$set', { $unset: ['a'] }])
  t.strictSame((await eventsOf('c69-keys'))[1], ['$set', { $unset: { a: 1 } }])
})

t.test('an $exception changes no person that is there (case 70)', async (t) => {
  const exception = { event: '$exception', properties: { $set: { a: 2, b: 3 }, $browser: 'Firefox' } }
  await send(t, event('c70', { properties: { $set: { a: 1 } } }))
  await send(t, event('c70', exception))
  t.strictSame(await personOf('c70'), { ids: ['c70'], isIdentified: false, properties: { a: 1 } })
  t.strictSame(await versionOf('c70'), [{ version: 0 }])
  t.strictSame((await eventsOf('c70'))[1], ['$exception', { $set: { a: 2, b: 3 }, $browser: 'Firefox' }])
})

t.test('an $identify that names no other id sets properties and identifies nobody (case 71)', async (t) => {
  await send(t, event('c71', { event: '$identify', properties: { $set: { plan: 'pro' } } }))
  t.strictSame(await personOf('c71'), { ids: ['c71'], isIdentified: false, properties: { plan: 'pro' } })
  await send(t, event('c71', { event: '$identify', properties: { $set: { plan: 'free' } } }))
  t.strictSame(await personOf('c71'), { ids: ['c71'], isIdentified: false, properties: { plan: 'free' } })
  t.strictSame(await eventsOf('c71'), [
    ['$identify', { $set: { plan: 'pro' } }],
    ['$identify', { $set: { plan: 'free' } }],
  ])
})

t.test('GUEST and NaN join nobody, nan does (case 78)', async (t) => {
  const identify = (id: string, $anon_distinct_id: string) =>
    event(id, { event: '$identify', properties: { $anon_distinct_id, $set: { from: $anon_distinct_id } } })
  await send(t, identify('c78-guest', 'GUEST'), identify('c78-NaN', 'NaN'), identify('c78-nan', 'nan'))
  const alone = { isIdentified: false }
  t.strictSame(await personOf('c78-guest'), { ids: ['c78-guest'], ...alone, properties: { from: 'GUEST' } })
  t.strictSame(await personOf('c78-NaN'), { ids: ['c78-NaN'], ...alone, properties: { from: 'NaN' } })
  t.strictSame([await personOf('GUEST'), await personOf('NaN')], [null, null])
  const joined = { ids: ['c78-nan', 'nan'], isIdentified: true, properties: { from: 'nan' } }
  t.strictSame([await personOf('c78-nan'), await personOf('nan')], [joined, joined])
  for (const [id, anon] of [
    ['c78-guest', 'GUEST'],
    ['c78-NaN', 'NaN'],
    ['c78-nan', 'nan'],
  ] as const) {
    t.strictSame(await eventsOf(id), [['$identify', { $anon_distinct_id: anon, $set: { from: anon } }]])
  }
  t.match(await warningOf('cannot_merge_with_illegal_distinct_id'), {
    type: 'warning',
    count: 2,
    sample: { event: '$identify', distinct_id: 'c78-NaN', detail: '"NaN" is no id that may be merged' },
  })
})

t.test('150 changes of one group in one batch all count (case 86)', async (t) => {
  const changes = Array.from({ length: 150 }, (_, at) =>
    groupChange('c86', { $group_key: 'c86', $group_set: { [`p${at}`]: at, last: at } }),
  )
  await send(t, ...changes)
  const [group, ...others] = await results('groups', { group_type_index: '0', search: 'c86' })
  // The object that a group's properties are.
  const properties = group?.group_properties as Fields
  t.strictSame([group?.group_key, others], ['c86', []])
  t.equal(Object.keys(properties).length, 151)
  t.match(properties, { p0: 0, p1: 1, p75: 75, p148: 148, p149: 149, last: 149 })
  t.equal((await eventsOf('c86')).length, 150)
  t.strictSame(
    await rowsOf(
      server.databaseUrl,
      `select version::integer from project_group where project_id = 1 and key = 'c86'`,
    ),
    [{ version: 150 }],
  )
})

t.test('a $group_key of 400 characters makes a group, one of 401 drops its event (case 89)', async (t) => {
  const full = `c89-${'k'.repeat(396)}`
  await send(
    t,
    groupChange('c89-over', { $group_key: `${full}k`, $group_set: { seats: 2 } }),
    groupChange('c89-full', { $group_key: full, $group_set: { seats: 1 } }),
  )
  t.strictSame(await groupsOf('c89-'), [[full, { seats: 1 }]])
  t.strictSame(await eventsOf('c89-over'), [])
  t.equal(await personOf('c89-over'), null)
  t.strictSame(await eventsOf('c89-full'), [
    ['$groupidentify', { $group_type: 'company', $group_key: full, $group_set: { seats: 1 } }],
  ])
  t.match(await warningOf('group_key_too_long'), {
    type: 'drop',
    count: 1,
    sample: {
      event: '$groupidentify',
      distinct_id: 'c89-over',
      detail: '$group_key may have 400 characters',
    },
  })
})

t.test('a $groupidentify without a $group_key is stored and makes no group (case 90)', async (t) => {
  const before = await groupsOf('')
  await send(t, groupChange('c90', { $group_set: { seats: 1 } }))
  t.strictSame(await groupsOf(''), before)
  t.strictSame(await eventsOf('c90'), [
    ['$groupidentify', { $group_type: 'company', $group_set: { seats: 1 } }],
  ])
  t.strictSame(await personOf('c90'), { ids: ['c90'], isIdentified: false, properties: {} })
  t.match(await warningOf('required_property_missing'), {
    type: 'warning',
    count: 1,
    sample: { event: '$groupidentify', distinct_id: 'c90', detail: 'missing: $group_key' },
  })
})

/** How often the person of a distinct_id was changed. */
function versionOf(distinctId: string): Promise<unknown[]> {
  return rowsOf(
    server.databaseUrl,
    `select p.version::integer from person p
     join person_distinct_id i on i.project_id = p.project_id and i.person_uuid = p.uuid
     where p.project_id = 1 and i.distinct_id = '${distinctId}'`,
  )
}
