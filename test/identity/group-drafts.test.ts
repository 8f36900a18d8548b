import t from 'tap'
import { capturedBatch, type SentEvent } from './captured.ts'
import { MemoryStore } from './memory-store.ts'

function identifyGroup(properties: object, type: unknown = 'company', key: unknown = 'acme'): SentEvent {
  return {
    event: '$groupidentify',
    distinct_id: `$${type}_${key}`,
    timestamp: '2024-05-01T11:00:00Z',
    properties: { $group_type: type, $group_key: key, $group_set: properties },
  }
}

function inGroups(groups: unknown, more: object = {}): SentEvent {
  return { event: 'e', distinct_id: 'a', properties: { $groups: groups, ...more } }
}

t.test('$groupidentify merges key by key and counts versions (85)', async (t) => {
  const store = new MemoryStore()
  store.send([identifyGroup({ foo: 'bar' })])
  t.same(store.group('company', 'acme'), {
    properties: { foo: 'bar' },
    version: 1,
    createdAt: '2024-05-01T11:00:00.000Z',
  })
  store.send([identifyGroup({ prop: 'value' })])
  t.match(store.group('company', 'acme'), { properties: { foo: 'bar', prop: 'value' }, version: 2 })
  const changes = store.send([identifyGroup({ foo: 'bar' }), identifyGroup({})])
  t.same(changes.groups, [])
  t.match(store.person('$company_acme'), { isIdentified: false })
  t.same(store.groupTypes(), { company: 0 })
  t.same([...store.mirroredTypes], [['1 company', 0]])
})

t.test('150 changes of one group in one batch all count (86)', async (t) => {
  const store = new MemoryStore()
  const events = Array.from({ length: 150 }, (_, n) => identifyGroup({ [`key${n}`]: n }))
  const changes = store.send(events)
  t.equal(changes.groups.length, 1)
  t.match(store.group('company', 'acme'), { properties: { key0: 0, key149: 149 }, version: 150 })
})

t.test('$groups names types and never makes a group (87)', async (t) => {
  const store = new MemoryStore()
  store.send([inGroups({ company: 'acme', team: 'blue' })])
  t.same(store.groupTypes(), { company: 0, team: 1 })
  t.equal(store.groupCount(), 0)
  t.same(store.flags(), { hasEvents: true, hasGroupTypes: true })
  const again = store.send([inGroups({ team: 'red' })])
  t.same([again.groupTypes, again.projectFlips], [[], []])
})

t.test('$groups that are no object are ignored (88)', async (t) => {
  const store = new MemoryStore()
  store.send([inGroups(['company']), inGroups('company')])
  t.same(store.groupTypes(), {})
})

t.test('a group key may have 400 characters (89)', async (t) => {
  const store = new MemoryStore()
  const key = 'k'.repeat(400)
  store.send([identifyGroup({ a: 1 }, 'company', key)])
  t.match(store.group('company', key), { properties: { a: 1 } })
  t.equal(capturedBatch([identifyGroup({ a: 1 }, 'company', 'k'.repeat(401))]), null)
})

t.test('$groupidentify without key or type is an ordinary event (90)', async (t) => {
  const store = new MemoryStore()
  const properties = { $group_type: 'company', $set: { a: 1 }, $browser: 'Chrome' }
  store.send([{ event: '$groupidentify', distinct_id: 'a', properties }])
  t.equal(store.groupCount(), 0)
  t.same(store.properties('a'), {}, 'and sets no person properties')
})

t.test('an anonymous event names no types (91)', async (t) => {
  const store = new MemoryStore()
  store.send([inGroups({ company: 'acme' }, { $process_person_profile: false })])
  t.same(store.groupTypes(), {})
})

t.test('five types get the lowest free index, a sixth is ignored', async (t) => {
  const store = new MemoryStore()
  store.send([inGroups({ a: 1, b: 1, '': 1, c: 1 })])
  store.send([
    inGroups({ d: 1 }),
    identifyGroup({ x: 1 }, 'e'),
    inGroups({ f: 1 }),
    identifyGroup({ x: 1 }, 'g'),
  ])
  t.same(store.groupTypes(), { a: 0, b: 1, c: 2, d: 3, e: 4 })
  t.equal(store.group('g', 'acme'), null)
  t.equal(store.groupCount(), 1)
})

t.test('a group from the future was made now', async (t) => {
  const store = new MemoryStore()
  store.send([{ ...identifyGroup({}), timestamp: '2024-05-01T13:00:00Z' }])
  t.match(store.group('company', 'acme'), { createdAt: '2024-05-01T12:00:00.000Z', properties: {} })
})

t.test('NUL in a group key is replaced', async (t) => {
  const store = new MemoryStore()
  store.send([identifyGroup({ a: 'x\0' }, 'company', 'ac\0me')])
  t.match(store.group('company', 'ac\ufffdme'), { properties: { a: 'x\ufffd' } })
})

t.test('a group larger than 640 KiB stays as it was', async (t) => {
  const store = new MemoryStore()
  store.send([identifyGroup({ a: 1 })])
  store.send([identifyGroup({ big: 'x'.repeat(650 * 1024) }), identifyGroup({ b: 2 })])
  t.match(store.group('company', 'acme'), { properties: { a: 1, b: 2 }, version: 2 })
  t.match(store.warnings, [{ reason: 'group_properties_too_large', count: 1 }])
})
