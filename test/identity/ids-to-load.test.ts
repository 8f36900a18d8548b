import t from 'tap'
import { idsToLoad, personsToLoadWhole, placeOf } from '../../src/identity/ids-to-load.ts'
import type { StepInput } from '../../src/identity/operations.ts'
import { nothingSeen } from '../../src/identity/seen.ts'
import { capturedBatch, inputOf, nowMs, type SentEvent } from './captured.ts'

function inputs(events: readonly SentEvent[], projectId = 1): StepInput[] {
  const batch = capturedBatch(events, { projectId })
  return batch === null ? [] : [inputOf(batch)]
}

function identify(distinctId: string, anonymousId: string): SentEvent {
  return { event: '$identify', distinct_id: distinctId, properties: { $anon_distinct_id: anonymousId } }
}

/** Of persons that are there by the names of their ids: `owners`, or each id is a person's only one. */
function wholePersons(events: SentEvent[], owners: Record<string, string> = {}): string[] {
  const merges = idsToLoad(inputs(events))[0]?.merges ?? []
  return [...personsToLoadWhole(merges, (id) => owners[id] ?? id)].sort()
}

t.test('lists every id that is named, by project', async (t) => {
  const [first, second] = idsToLoad([
    ...inputs([
      { event: 'e', distinct_id: 'plain' },
      { event: 'e', distinct_id: 'hidden', properties: { $process_person_profile: false } },
      identify('user', 'anon'),
      identify('user', 'null'),
      { event: '$create_alias', distinct_id: 'x', properties: { alias: 'y' } },
    ]),
    ...inputs([{ event: 'e', distinct_id: 'plain' }], 2),
  ])
  t.same([...(first?.distinctIds.keys() ?? [])], ['plain', 'user', 'anon', 'x', 'y'])
  t.same(second?.projectId, 2)
  t.same([...(second?.distinctIds.keys() ?? [])], ['plain'])
})

t.test('lists every merge once', async (t) => {
  const [ids] = idsToLoad(inputs([identify('a', 'bc'), identify('ab', 'c'), identify('a', 'bc')]))
  t.same(ids?.merges, [
    { into: 'a', source: 'bc' },
    { into: 'ab', source: 'c' },
  ])
})

t.test('asks for the whole person of a source only', async (t) => {
  t.same(wholePersons([identify('user', 'anon')]), ['anon'])
  t.same(wholePersons([identify('user', 'anon'), identify('user', 'anon')]), ['anon'])
  t.same(wholePersons([identify('a', 'b'), identify('c', 'd')]), ['b', 'd'])
  t.same(wholePersons([{ event: '$create_alias', distinct_id: 'x', properties: { alias: 'y' } }]), ['x'])
  t.same(wholePersons([identify('a', 'a'), identify('a', 'null')]), [])
})

t.test('asks for all persons where merges touch, since a survivor may be the next source', async (t) => {
  t.same(wholePersons([identify('a', 'b'), identify('c', 'b')]), ['a', 'b', 'c'])
  t.same(wholePersons([identify('a', 'b'), identify('b', 'c')]), ['a', 'b', 'c'])
  t.same(wholePersons([identify('a', 'b'), identify('c', 'd'), identify('b', 'd')]), ['a', 'b', 'c', 'd'])
})

t.test('sees merges touch in a person whose ids they name', async (t) => {
  const owners = { a1: 'A', a2: 'A', b1: 'B', b2: 'B' }
  t.same(wholePersons([identify('b1', 'a1'), identify('c', 'a2')], owners), ['A', 'B', 'c'])
  t.same(wholePersons([identify('b1', 'a1'), identify('b2', 'a2')], owners), ['A'], 'the same merge twice')
  t.same(wholePersons([identify('a1', 'a2')], owners), [], 'no merge at all')
})

t.test(
  'tells where an event may first change the person of an id, and whether digests answer for it',
  async (t) => {
    const group = { $group_type: 'company', $group_key: 'acme', $group_set: { a: 1 } }
    const of = (distinct_id: string, event: string, properties = {}) => ({ distinct_id, event, properties })
    const batch = inputs([
      of('plain', 'e'),
      of('group', '$groupidentify', group),
      of('crash', '$exception', { $set: { a: 1 } }),
      of('told', 'e', { $set: { a: 1 } }),
      of('survey', 'survey shown'),
      of('survey', '$groupidentify', group),
      identify('user', 'anon'),
    ])
    const [ids] = idsToLoad([...inputs([of('user', 'e')]), ...batch])
    t.same(
      [...(ids?.distinctIds ?? [])].map(([id, said]) => [id, said.from, said.isSeen(nothingSeen)]),
      [
        ['user', placeOf(1, 6), false],
        ['plain', Number.POSITIVE_INFINITY, true],
        ['group', Number.POSITIVE_INFINITY, true],
        ['crash', Number.POSITIVE_INFINITY, true],
        ['told', placeOf(1, 3), false],
        ['survey', placeOf(1, 4), false],
        ['anon', placeOf(1, 6), false],
      ],
    )
  },
)

t.test('lists groups and persons that are deleted', async (t) => {
  const group = { $group_type: 'company', $group_key: 'acme' }
  const events = [{ event: '$groupidentify', distinct_id: 'a', properties: group }]
  const personUuid = '6931a681-6e90-500d-8294-14582dcc2e3f'
  const [ids] = idsToLoad([
    ...inputs(events),
    { kind: 'delete_person', projectId: 1, personUuid, deletesEvents: false, deletedAtMs: nowMs },
  ])
  t.same(
    [...(ids?.groups ?? [])].map(([type, keys]) => [type, [...keys]]),
    [['company', ['acme']]],
  )
  t.same([...(ids?.personUuids ?? [])], [personUuid])
})
