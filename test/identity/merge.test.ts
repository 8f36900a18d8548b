import t from 'tap'
import { mergeIds } from '../../src/identity/merge.ts'
import { type SentEvent, uuidOf } from './captured.ts'
import { MemoryStore } from './memory-store.ts'

/** uuidv5 of "1:user" and of "1:anon". */
const userUuid = '60160341-b11a-5f3e-91e6-49846c4afaa3'
const anonUuid = '7318c711-4e13-553f-aa67-bd012837acb9'

function seen(distinctId: string, $set: object, timestamp = '2024-05-01T11:00:00Z'): SentEvent {
  return { event: 'e', distinct_id: distinctId, properties: { $set }, timestamp, uuid: uuidOf(1) }
}

function identify(distinctId: string, anonymousId: unknown, properties: object = {}): SentEvent {
  const all = { $anon_distinct_id: anonymousId, ...properties }
  return {
    event: '$identify',
    distinct_id: distinctId,
    properties: all,
    timestamp: '2024-05-01T11:30:00Z',
    uuid: uuidOf(2),
  }
}

function alias(
  distinctId: string,
  other: unknown,
  event = '$create_alias',
  properties: object = {},
): SentEvent {
  return { event, distinct_id: distinctId, properties: { alias: other, ...properties }, uuid: uuidOf(3) }
}

function reasons(store: MemoryStore): string[] {
  return store.warnings.map(({ reason }) => reason)
}

t.test(
  'D3: $create_alias makes the alias the main id, $identify and $merge_dangerously the distinct_id',
  async (t) => {
    t.same(mergeIds('alias', 'distinct', 'other'), { into: 'other', source: 'distinct' })
    t.same(mergeIds('identify', 'distinct', 'other'), { into: 'distinct', source: 'other' })
    t.same(mergeIds('merge', 'distinct', 'other'), { into: 'distinct', source: 'other' })
  },
)

t.test('$identify without $anon_distinct_id only sets (71)', async (t) => {
  const store = new MemoryStore()
  const properties = { $set: { plan: 'free' } }
  store.send([{ event: '$identify', distinct_id: 'user', properties }])
  t.match(store.person('user'), { distinctIds: ['user'], isIdentified: false, properties: { plan: 'free' } })
})

t.test('two new ids become one identified person, named after the distinct_id (72)', async (t) => {
  const store = new MemoryStore()
  store.send([identify('user', 'anon', { $set: { plan: 'free' } })])
  t.same(store.person('user'), {
    uuid: userUuid,
    distinctIds: ['anon', 'user'],
    properties: { plan: 'free', $creator_event_uuid: uuidOf(2) },
    isIdentified: true,
    version: 0,
    createdAt: '2024-05-01T11:30:00.000Z',
  })
  t.same([...store.overrides], [[anonUuid, userUuid]])
})

t.test('a new distinct_id comes to the person of the anonymous id (73)', async (t) => {
  const store = new MemoryStore()
  store.send([seen('anon', { a: 1 })])
  store.send([identify('user', 'anon', { $set: { b: 2 } })])
  t.match(store.person('user'), {
    uuid: anonUuid,
    distinctIds: ['anon', 'user'],
    properties: { a: 1, b: 2 },
    isIdentified: true,
    version: 1,
  })
  t.same([...store.overrides], [[userUuid, anonUuid]])
})

t.test('a new anonymous id comes to the person of the distinct_id', async (t) => {
  const store = new MemoryStore()
  store.send([seen('user', { a: 1 })])
  store.send([identify('user', 'anon')])
  t.match(store.person('anon'), {
    uuid: userUuid,
    distinctIds: ['anon', 'user'],
    isIdentified: true,
    version: 1,
  })
})

t.test('two persons become one: the distinct_id prevails, the earlier birth counts (74)', async (t) => {
  const store = new MemoryStore()
  store.send([seen('anon', { from: 'anon', a: 1, set: 0 }, '2024-05-01T10:00:00Z')])
  store.send([seen('anon', { more: 1 })])
  store.send([seen('user', { from: 'user' }, '2024-05-01T11:00:00Z')])
  const changes = store.send([identify('user', 'anon', { $set: { set: 1 }, $set_once: { a: 2, once: 1 } })])
  t.match(store.person('user'), {
    uuid: userUuid,
    distinctIds: ['anon', 'user'],
    properties: { from: 'user', a: 1, more: 1, set: 1, once: 1 },
    isIdentified: true,
    version: 2,
    createdAt: '2024-05-01T10:00:00.000Z',
  })
  t.equal(store.personCount(), 1)
  t.same(changes.merges, [{ projectId: 1, from: anonUuid, into: userUuid }])
  t.same(changes.personsDeleted, [{ projectId: 1, uuid: anonUuid }])
  t.equal(store.readerOf('anon'), userUuid)
})

t.test('the same $identify again changes nothing (75)', async (t) => {
  const store = new MemoryStore()
  const event = identify('user', 'anon', { $set: { a: { b: [1] } } })
  store.send([event])
  const changes = store.send([event, event])
  t.same([changes.persons, changes.distinctIds, changes.storeChanges], [[], [], []])
})

t.test('an id is not merged with itself (76)', async (t) => {
  const store = new MemoryStore()
  store.send([identify('user', 'user', { $set: { a: 1 } })])
  t.match(store.person('user'), { distinctIds: ['user'], isIdentified: false, properties: { a: 1 } })
  t.same(reasons(store), [])
})

t.test('illegal ids on either side are not merged, and the event still counts (77)', async (t) => {
  for (const illegal of ['', '   ', 'null', 'undefined', '"undefined"', '[object Object]']) {
    const store = new MemoryStore()
    store.send([identify('user', illegal, { $set: { a: 1 } })])
    t.match(
      store.person('user'),
      { distinctIds: ['user'], isIdentified: false, properties: { a: 1 } },
      illegal,
    )
    t.same(reasons(store), ['cannot_merge_with_illegal_distinct_id'])
    if (illegal.trim() === '') continue
    const other = new MemoryStore()
    other.send([identify(illegal, 'anon', { $set: { a: 1 } })])
    t.match(other.person(illegal), { distinctIds: [illegal], properties: { a: 1 } })
    t.equal(other.person('anon'), null)
  }
})

t.test('nan is an id, GUEST and NaN are not (78)', async (t) => {
  const store = new MemoryStore()
  store.send([identify('user', 'nan'), identify('user', 'GUEST'), identify('user', 'NaN')])
  t.same(store.person('user')?.distinctIds, ['nan', 'user'])
  t.match(store.warnings, [{ reason: 'cannot_merge_with_illegal_distinct_id', count: 2 }])
})

t.test("$create_alias with distinct_id 'false' merges nothing (79)", async (t) => {
  const store = new MemoryStore()
  store.send([alias('false', 'user')])
  t.same(store.distinctIds(), ['false'])
  t.same(reasons(store), ['cannot_merge_with_illegal_distinct_id'])
})

t.test('$create_alias makes one person of both ids, that of the alias (80)', async (t) => {
  const unknown = new MemoryStore()
  unknown.send([alias('anon', 'user')])
  t.match(unknown.person('anon'), { uuid: userUuid, distinctIds: ['anon', 'user'], isIdentified: true })

  const known = new MemoryStore()
  known.send([seen('anon', { from: 'anon' }), seen('user', { from: 'user' })])
  known.send([alias('anon', 'user')])
  t.match(known.person('anon'), {
    uuid: userUuid,
    distinctIds: ['anon', 'user'],
    properties: { from: 'user' },
  })
})

t.test('an identified person is not merged away, but the event still tells of the survivor', async (t) => {
  const store = new MemoryStore()
  store.send([identify('anon', 'other'), seen('user', { from: 'user' })])
  store.send([identify('user', 'anon', { $set: { a: 1 } })])
  t.match(store.person('user'), {
    distinctIds: ['user'],
    isIdentified: true,
    properties: { from: 'user', a: 1 },
    version: 1,
  })
  t.same(store.person('anon')?.distinctIds, ['anon', 'other'])
  t.match(store.warnings, [
    {
      reason: 'cannot_merge_already_identified',
      count: 1,
      sample: {
        event: '$identify',
        distinctId: 'user',
        detail: 'the person of "anon" is identified already',
      },
    },
  ])
})

t.test('D3: $create_alias is refused when the person of the distinct_id is identified', async (t) => {
  const store = new MemoryStore()
  store.send([identify('anon', 'other'), seen('user', {})])
  store.send([alias('anon', 'user')])
  t.same(
    [store.person('anon')?.distinctIds, store.person('user')?.distinctIds],
    [['anon', 'other'], ['user']],
  )
  store.send([alias('user', 'anon')])
  t.equal(store.personCount(), 2, 'the refused event identified the person of its alias, too')
})

t.test('$merge_dangerously merges identified persons', async (t) => {
  const store = new MemoryStore()
  store.send([identify('anon', 'other'), identify('user', 'phone')])
  store.send([alias('user', 'anon', '$merge_dangerously')])
  t.match(store.person('other'), {
    uuid: userUuid,
    distinctIds: ['anon', 'other', 'phone', 'user'],
    version: 1,
  })
  t.same(reasons(store), [])
})

t.test('$create_alias and $merge_dangerously without an alias are ordinary events', async (t) => {
  const store = new MemoryStore()
  store.send([alias('user', ''), alias('user', null), alias('user', 0, '$merge_dangerously')])
  t.match(store.person('user'), { distinctIds: ['user'], isIdentified: false })
  t.same(reasons(store), [])
})

t.test('overrides stay flat through chains of merges', async (t) => {
  const store = new MemoryStore()
  store.send([identify('b', 'a')])
  store.send([alias('c', 'b', '$merge_dangerously'), seen('d', {})])
  store.send([alias('d', 'c', '$merge_dangerously')])
  const uuid = store.person('d')?.uuid
  t.same(store.person('d')?.distinctIds, ['a', 'b', 'c', 'd'])
  t.same(
    ['a', 'b', 'c', 'd'].map((id) => store.readerOf(id)),
    [uuid, uuid, uuid, uuid],
  )
  t.equal(store.overrides.size, 3)
})
