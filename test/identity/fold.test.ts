import t from 'tap'
import type { UnreadInput } from '../../src/identity/operations.ts'
import { capturedBatch, nowMs, rangeOf, type SentEvent, type SentFacts } from './captured.ts'
import { MemoryStore } from './memory-store.ts'

/** uuidv5 of "1:user" and of "1:anon". */
const userUuid = '60160341-b11a-5f3e-91e6-49846c4afaa3'
const anonUuid = '7318c711-4e13-553f-aa67-bd012837acb9'

function sent(events: readonly SentEvent[], facts: SentFacts = {}): UnreadInput[] {
  const batch = capturedBatch(events, facts)
  return batch === null ? [] : [rangeOf(batch)]
}

function identify(distinctId: string, anonymousId: string): SentEvent {
  return { event: '$identify', distinct_id: distinctId, properties: { $anon_distinct_id: anonymousId } }
}

function deletePerson(personUuid: string, deletesEvents = false): UnreadInput {
  return { kind: 'delete_person', projectId: 1, personUuid, deletesEvents, deletedAtMs: nowMs }
}

t.test('a person that many events touch is one row', async (t) => {
  const store = new MemoryStore()
  const events = Array.from({ length: 1000 }, (_, n) => ({
    event: 'e',
    distinct_id: 'user',
    properties: { $set: { n } },
  }))
  const changes = store.send(events)
  t.equal(changes.persons.length, 1)
  t.match(store.person('user'), { properties: { n: 999 }, version: 999 })
})

t.test('a deleted person is gone with its ids, and reads see its events as born', async (t) => {
  const store = new MemoryStore()
  store.step(sent([identify('user', 'anon')]))
  const changes = store.step([deletePerson(userUuid)])
  t.same(changes.personsDeleted, [{ projectId: 1, uuid: userUuid }])
  t.equal(store.personCount(), 0)
  t.same(store.distinctIds(), [])
  t.equal(store.readerOf('anon'), anonUuid)
  t.equal(store.tombstones.size, 0)
})

t.test('a person is deleted with its events when that is asked', async (t) => {
  const store = new MemoryStore()
  store.step(sent([identify('user', 'anon')]))
  store.step([deletePerson(userUuid, true)])
  t.same(
    [...store.tombstones].sort(),
    [
      [anonUuid, nowMs],
      [userUuid, nowMs],
    ].sort(),
  )
})

t.test('a deleted person that is seen again is a new one, with nothing of the old', async (t) => {
  const store = new MemoryStore()
  const born = { event: 'e', distinct_id: 'user', timestamp: '2024-05-01T10:00:00Z' }
  store.step(sent([{ ...born, properties: { $set: { a: 1 } } }, identify('user', 'anon')]))
  const again = { ...born, timestamp: '2024-05-01T11:00:00Z', properties: { $set: { b: 2 } } }
  store.step([deletePerson(userUuid), ...sent([again])])
  t.match(store.person('user'), {
    uuid: userUuid,
    distinctIds: ['user'],
    isIdentified: false,
    version: 0,
    createdAt: '2024-05-01T11:00:00.000Z',
  })
  t.same(store.properties('user'), { b: 2 })
  store.step(sent([{ event: 'e', distinct_id: 'anon' }]))
  t.equal(store.person('anon')?.uuid, anonUuid)
})

t.test('deleting who was merged away, or never was, changes nothing', async (t) => {
  const store = new MemoryStore()
  store.step(
    sent([
      { event: 'e', distinct_id: 'anon' },
      { event: 'e', distinct_id: 'user' },
    ]),
  )
  store.step([...sent([identify('user', 'anon')]), deletePerson(anonUuid, true)])
  t.same(store.person('anon')?.distinctIds, ['anon', 'user'])
  const changes = store.step([
    deletePerson(anonUuid, true),
    deletePerson('00000000-0000-5000-8000-000000000000'),
  ])
  t.same([changes.personsDeleted, changes.storeChanges], [[], []])
})

t.test('a person merged into one that is deleted in the same step leaves nothing to move', async (t) => {
  const store = new MemoryStore()
  store.step(
    sent([
      { event: 'e', distinct_id: 'anon' },
      { event: 'e', distinct_id: 'user' },
    ]),
  )
  const changes = store.step([...sent([identify('user', 'anon')]), deletePerson(userUuid)])
  t.same(changes.merges, [])
  t.equal(store.personCount(), 0)
  t.equal(store.readerOf('anon'), anonUuid)
})

t.test('a chain of merges in one step moves everything to the last survivor', async (t) => {
  const store = new MemoryStore()
  store.step(sent(['a', 'b', 'c'].map((distinct_id) => ({ event: 'e', distinct_id }))))
  const merge = (distinct_id: string, alias: string) => ({
    event: '$merge_dangerously',
    distinct_id,
    properties: { alias },
  })
  const changes = store.step(sent([merge('b', 'a'), merge('c', 'b')]))
  const uuid = store.person('c')?.uuid
  t.same(
    changes.merges.map(({ into }) => into),
    [uuid, uuid],
  )
  t.same(store.person('a')?.distinctIds, ['a', 'b', 'c'])
  t.equal(store.person('a')?.version, 2)
})

t.test('a deleted project takes everything along, and its later events do nothing', async (t) => {
  const store = new MemoryStore(1, 2)
  store.step(sent([{ event: 'e', distinct_id: 'user' }]))
  const other = sent([{ event: 'e', distinct_id: 'user' }], { projectId: 2 })
  const changes = store.step([
    ...sent([identify('user', 'anon')]),
    ...other,
    { kind: 'delete_project', projectId: 1 },
    ...sent([{ event: 'e', distinct_id: 'late' }]),
  ])
  t.same(changes.projectsDeleted, [1])
  t.match(changes.persons, [{ projectId: 2 }])
  t.same([changes.usage.map(({ projectId }) => projectId), changes.storeChanges], [[2], []])
  const late = store.step(sent([{ event: 'e', distinct_id: 'later' }]))
  t.same([late.persons, late.usage, late.projectFlips], [[], [], []])
})

t.test('projects are walls', async (t) => {
  const store = new MemoryStore(1, 2)
  store.step([
    ...sent([identify('user', 'anon')]),
    ...sent([{ event: 'e', distinct_id: 'anon' }], { projectId: 2 }),
  ])
  t.same(store.person('anon', 2)?.distinctIds, ['anon'])
  t.equal(store.person('anon', 2)?.isIdentified, false)
})

t.test('the first event flips ingested_event, once', async (t) => {
  const store = new MemoryStore()
  const events = [{ event: 'e', distinct_id: 'user' }]
  const flip = { projectId: 1, ingestedEvent: true, hasGroupTypes: false }
  t.same(store.step(sent(events)).projectFlips, [flip])
  t.same(store.step(sent(events)).projectFlips, [])
})

t.test('historical events are counted apart and otherwise the same', async (t) => {
  const store = new MemoryStore()
  const events = [{ event: 'e', distinct_id: 'user', timestamp: '2023-01-01T00:00:00Z' }]
  store.step([...sent(events, { historical: true }), ...sent(events)])
  t.same([...store.usage], [['1 2024-05-01', { billable: 1, historical: 1 }]])
  t.equal(store.person('user')?.createdAt, '2023-01-01T00:00:00.000Z')
})
