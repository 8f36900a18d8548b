import { fail } from 'node:assert/strict'
import t from 'tap'
import { personColumn, readOperations } from '../../src/identity/operations.ts'
import { capturedBatch, inputOf, rangeOf, type SentEvent } from './captured.ts'

function batchOf(events: readonly SentEvent[]) {
  return capturedBatch(events) ?? fail('capture dropped everything')
}

t.test('tells events by what they may do', async (t) => {
  const $set = { a: 1 }
  const batch = batchOf([
    { event: 'e', distinct_id: 'a' },
    { event: 'e', distinct_id: 'a', properties: { $set } },
    { event: '$set', distinct_id: 'a', properties: { $set } },
    { event: '$exception', distinct_id: 'a', properties: { $set } },
    { event: '$$heatmap', distinct_id: 'a' },
    { event: 'survey shown', distinct_id: 'a' },
    { event: '$identify', distinct_id: 'a' },
    { event: '$create_alias', distinct_id: 'a', properties: { alias: 'b' } },
    { event: '$merge_dangerously', distinct_id: 'a', properties: { alias: 'b' } },
    { event: '$groupidentify', distinct_id: 'a' },
    { event: 'nine chars', distinct_id: 'a' },
  ])
  const { operations, eventCount } = inputOf(batch)
  t.equal(eventCount, 11)
  t.same(
    operations.map(({ kind }) => kind),
    ['plain', 'update', 'set', 'birth', 'birth', 'survey', 'identify', 'alias', 'merge', 'group', 'plain'],
  )
})

t.test('skips duplicates and anonymous events, and counts the latter', async (t) => {
  const hidden = { $process_person_profile: false, $set: { a: 1 } }
  const batch = batchOf([
    ...Array.from('abcdefghi', (distinct_id) => ({ event: 'e', distinct_id })),
    { event: 'e', distinct_id: 'j', properties: hidden },
    { event: 'e', distinct_id: 'k' },
  ])
  const { operations, eventCount } = readOperations(
    { ...rangeOf(batch), duplicates: new Uint8Array([0b1011_1110, 0b1]) },
    null,
  )
  t.same(
    operations.map(({ index, distinctId }) => [index, distinctId]),
    [
      [0, 'a'],
      [6, 'g'],
      [10, 'k'],
    ],
  )
  t.equal(eventCount, 4)
  const part = readOperations({ ...rangeOf(batch), from: 7, to: 10 }, null)
  t.same(
    part.operations.map(({ distinctId }) => distinctId),
    ['h', 'i'],
  )
  t.equal(part.eventCount, 3)
})

t.test('drops identity events without person processing before they get here (84)', async (t) => {
  const properties = { $process_person_profile: false, $anon_distinct_id: 'x' }
  t.equal(capturedBatch([{ event: '$identify', distinct_id: 'a', properties }]), null)
})

t.test('gives an identity event that joins nothing the digest of what it says', async (t) => {
  const $set = { plan: 'free' }
  const batch = batchOf([
    { event: '$identify', distinct_id: 'a', properties: { $set } },
    { event: '$set', distinct_id: 'a', properties: { $set } },
    { event: '$create_alias', distinct_id: 'a', properties: { $set, alias: 'b' } },
  ])
  const [identify, set, alias] = inputOf(batch).operations.map(({ digest }) => digest)
  t.ok(identify)
  t.equal(identify, set)
  t.equal(alias, 0)
})

t.test('reads what identity events name', async (t) => {
  const batch = batchOf([
    { event: '$identify', distinct_id: 'a', properties: { $anon_distinct_id: 'anon' } },
    { event: '$identify', distinct_id: 'a', properties: { alias: 'b' } },
    { event: '$create_alias', distinct_id: 'a', properties: { alias: 'b' } },
    {
      event: '$groupidentify',
      distinct_id: 'a',
      properties: { $group_type: 'company', $group_key: 'acme', $group_set: { x: 1 } },
    },
  ])
  const { operations } = inputOf(batch)
  t.same(
    operations.map(({ otherId, group }) => otherId ?? group),
    ['anon', null, 'b', { type: 'company', key: 'acme', set: '{"x":1}' }],
  )
})

t.test('accepts the shapes of PHP and Ruby', async (t) => {
  const batch = batchOf([
    { event: '$create_alias', distinct_id: null, properties: { distinct_id: 'previous', alias: 'user' } },
    { event: '$identify', distinct_id: 'php', $set: [] },
    { event: '$identify', distinct_id: 'ruby', $set: { plan: 'free' }, properties: { plan: 'free' } },
  ])
  const { operations } = inputOf(batch)
  t.same(
    operations.map(({ distinctId, otherId }) => [distinctId, otherId]),
    [
      ['previous', 'user'],
      ['php', null],
      ['ruby', null],
    ],
  )
  t.same([...personColumn(batch, 1)], [['$set', '{}']])
  t.same([...personColumn(batch, 2)], [['$set', '{"plan":"free"}']])
})
