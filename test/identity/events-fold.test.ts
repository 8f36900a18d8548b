import fc from 'fast-check'
import t from 'tap'
import { capturedBody, rangeOf, type SentEvent, uuidOf } from './captured.ts'
import { checkHistory } from './check-history.ts'
import { history } from './histories.ts'
import { MemoryStore } from './memory-store.ts'

function event(properties: object, more: object = {}): SentEvent {
  return { event: 'e', distinct_id: 'user-1', properties, ...more }
}

/** The person after one event after the other, each in a step of its own. */
function after(...events: SentEvent[]) {
  const store = new MemoryStore()
  for (const one of events) store.send([one])
  return store.properties('user-1')
}

t.test('top-level $set prevails over that of properties (59)', async (t) => {
  t.same(after(event({ $set: { a: 2, b: 3 } }, { $set: { a: 1 } })), { a: 1, b: 3 })
})

t.test('$os_name stands in for $os (60)', async (t) => {
  t.same(after(event({ $os_name: 'iOS' })), { $os: 'iOS', $initial_os: 'iOS' })
})

t.test('campaign parameters keep their first value beside the last (61)', async (t) => {
  const pages = ['x', 'y'].map((utm_source) => ({ ...event({ utm_source }), event: '$pageview' }))
  t.same(after(...pages), { utm_source: 'y', $initial_utm_source: 'x' })
})

t.test('a $set that is no object sets nothing (62)', async (t) => {
  t.same(after(event({ $set: 'oops', $set_once: { a: 1 } })), { a: 1 })
})

t.test('anything but false asks for person processing (65)', async (t) => {
  t.same(after(event({ $process_person_profile: 'false', $set: { a: 1 } })), { a: 1 })
})

t.test('the first event makes the person (67)', async (t) => {
  const store = new MemoryStore()
  const facts = { uuid: uuidOf(1), timestamp: '2024-05-01T11:00:00Z' }
  store.send([event({ $set: { a: 1 }, $set_once: { a: 2, b: 3 } }, facts), event({})])
  t.same(store.person('user-1'), {
    uuid: '6931a681-6e90-500d-8294-14582dcc2e3f',
    distinctIds: ['user-1'],
    properties: { a: 1, b: 3, $creator_event_uuid: '00000000-0000-7000-8000-000000000001' },
    isIdentified: false,
    version: 0,
    createdAt: '2024-05-01T11:00:00.000Z',
  })
  t.same([...store.overrides], [])
})

t.test('$set_once keeps the first value (68)', async (t) => {
  t.same(after(event({ $set_once: { a: 1 } }), event({ $set_once: { a: 2 } })), { a: 1 })
})

t.test('$unset takes a list or an object (69)', async (t) => {
  const born = event({ $set: { a: 1, b: 2 } })
  t.same(after(born, event({ $unset: ['a', 'c'] })), { b: 2 })
  t.same(after(born, event({ $unset: { a: 1 } })), { b: 2 })
  t.same(after(born, event({}, { $unset: ['a'] })), { b: 2 })
})

t.test('$exception and $$heatmap make persons and never change them (70)', async (t) => {
  for (const name of ['$exception', '$$heatmap']) {
    const born = { ...event({ $set: { a: 1 } }), event: name }
    t.same(after(born, { ...event({ $set: { a: 2, b: 1 }, $browser: 'Chrome' }), event: name }), { a: 1 })
  }
})

t.test('an anonymous event has no person (81)', async (t) => {
  const store = new MemoryStore()
  const changes = store.send([event({ $process_person_profile: false, $set: { a: 1 } })])
  t.equal(store.personCount(), 0)
  t.same([changes.persons, changes.distinctIds, changes.storeChanges], [[], [], []])
  t.same(changes.usage, [{ projectId: 1, day: '2024-05-01', billable: 1, historical: 0 }])
  t.equal(store.readerOf('user-1'), '6931a681-6e90-500d-8294-14582dcc2e3f')
})

t.test('anonymous history follows its id to the person it is identified with (82)', async (t) => {
  const store = new MemoryStore()
  store.send([event({ $process_person_profile: false }, { distinct_id: 'anon' })])
  store.send([event({ $anon_distinct_id: 'anon' }, { event: '$identify' })])
  t.equal(store.readerOf('anon'), '6931a681-6e90-500d-8294-14582dcc2e3f')
})

t.test('an anonymous event of a known person changes nothing about it (83)', async (t) => {
  const store = new MemoryStore()
  store.send([event({ $set: { a: 1 } })])
  store.send([event({ $process_person_profile: false, $set: { a: 2 } })])
  t.same(store.properties('user-1'), { a: 1 })
})

t.test('a visitor who goes from page to page is not written again', async (t) => {
  const store = new MemoryStore()
  const page = (url: string, more = {}) => event({ $current_url: url, $browser: 'Chrome', ...more })
  store.send([page('/1')])
  for (const url of ['/2', '/3', '/2']) t.same(store.send([page(url)]).persons, [], url)
  t.equal(store.send([page('/4', { $app_version: '2' })]).persons.length, 1)
  t.match(store.properties('user-1'), { $current_url: '/4', $initial_current_url: '/1' })
  t.equal(store.person('user-1')?.version, 1)
})

t.test('the event of a group changes the group without the row of who sends it', async (t) => {
  const store = new MemoryStore()
  const group = { $group_type: 'company', $group_key: 'acme', $group_set: { seats: 1 } }
  store.send([event({ $set: { a: 1 } })])
  const changes = store.send([event(group, { event: '$groupidentify' }), event({ $set: { a: 1 } })])
  t.same([changes.persons, changes.groups.length], [[], 1])
  t.equal(store.send([event(group, { event: '$groupidentify', distinct_id: 'new' })]).persons.length, 1)
})

t.test('what was seen before a change means a change after it', async (t) => {
  const store = new MemoryStore()
  const set = (value: string) => event({ $set: { value } })
  store.send([set('a'), set('a'), set('b')])
  t.match(store.person('user-1'), { version: 1, properties: { value: 'b' } })
  store.send([set('a')])
  t.match(store.person('user-1'), { version: 2, properties: { value: 'a' } })
  store.send([set('a'), set('b'), set('a')])
  t.match(store.person('user-1'), { version: 4, properties: { value: 'a' } })
})

t.test('what the event that makes a person says of its creator holds when it comes again', async (t) => {
  const creatorAfter = (said: object): unknown => {
    const store = new MemoryStore()
    for (const n of [1, 2, 3]) store.send([event(said, { event: '$identify', uuid: uuidOf(n) })])
    const { properties, version } = store.person('user-1') ?? {}
    return [properties, version]
  }
  t.same(creatorAfter({ $set: { $creator_event_uuid: 'x' } }), [{ $creator_event_uuid: 'x' }, 1])
  t.same(creatorAfter({ $unset: ['$creator_event_uuid'], $set: { a: 1 } }), [{ a: 1 }, 1])
  t.same(creatorAfter({ $set_once: { $creator_event_uuid: 'x' } }), [{ $creator_event_uuid: uuidOf(1) }, 0])
})

t.test('a group type named in a step that failed is named again', async (t) => {
  const store = new MemoryStore()
  store.send([event({ $set: { a: 1 } })])
  const named = event({ $groups: { company: 'acme' } })
  const inputs = [capturedBody(JSON.stringify({ api_key: 'phc_1', batch: [named] }))].flatMap((batch) =>
    batch === null ? [] : [rangeOf(batch)],
  )
  t.same(store.fold(inputs).groupTypes, [{ projectId: 1, name: 'company', index: 0 }])
  store.step(inputs)
  t.same(store.groupTypes(), { company: 0 })
})

t.test('numbers keep their digits', async (t) => {
  const store = new MemoryStore()
  const body =
    '{"api_key":"phc_1","batch":[{"event":"e","distinct_id":"u","properties":{"$set":{"n":12345678901234567890}}}]}'
  const batch = capturedBody(body)
  const changes = store.step(batch === null ? [] : [rangeOf(batch)])
  t.match(changes.persons[0]?.properties, '"n":12345678901234567890')
})

t.test('persons are bounded, with a warning', async (t) => {
  const KiB = 1024
  const store = new MemoryStore()
  store.send([event({ $set: { a: 1, email: 'a@example.com' } })])
  store.send([event({ $set: { big: 'x'.repeat(650 * KiB) } })])
  t.same(store.properties('user-1'), { a: 1, email: 'a@example.com' })
  store.send([event({ $set: { big: 'x'.repeat(600 * KiB), b: 2 } })])
  t.same(store.properties('user-1'), { a: 1, b: 2, email: 'a@example.com' })
  store.send([event({ $set: { big: 'x'.repeat(650 * KiB) } }, { distinct_id: 'born-big' })])
  t.same(store.properties('born-big'), {})
  store.send([event({ $set: { big: 'x'.repeat(600 * KiB), c: 3 } }, { distinct_id: 'born-trimmed' })])
  t.same(store.properties('born-trimmed'), { c: 3 })
  t.same(
    store.warnings.map(({ reason, sample }) => [reason, sample.distinctId]),
    [
      ['person_properties_too_large', 'user-1'],
      ['person_properties_trimmed', 'user-1'],
      ['person_properties_too_large', 'born-big'],
      ['person_properties_trimmed', 'born-trimmed'],
    ],
  )
})

t.test('agrees with the plain model on random histories, however they are cut', async (t) => {
  fc.assert(fc.property(history(30), checkHistory), { numRuns: 1000 })
  t.pass('1000 histories')
})
