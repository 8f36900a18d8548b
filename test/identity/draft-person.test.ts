import t from 'tap'
import { DraftPerson } from '../../src/identity/draft-person.ts'
import type { Person } from '../../src/identity/known.ts'
import { nothingSeen } from '../../src/identity/seen.ts'
import type { Micros } from '../../src/lib/clock.ts'

const createdAtMicros = 1_714_564_800_000_000 as Micros // 2024-05-01T12:00:00Z

function rowOf(properties: string): Person {
  const uuid = '6931a681-6e90-500d-8294-14582dcc2e3f'
  return {
    projectId: 1,
    uuid,
    createdAtMicros,
    isIdentified: true,
    version: 3,
    properties,
    seen: nothingSeen,
  }
}

function draftOf(row: Person): DraftPerson {
  return new DraftPerson(1, row.uuid, row.createdAtMicros, row, null)
}

t.test('reads what a database gives back as what was printed', async (t) => {
  const draft = draftOf(rowOf('{"a": 1, "b": {"y": [1, 2], "x": "ü"}}'))
  t.same(
    [...draft.properties],
    [
      ['a', '1'],
      ['b', '{"x":"ü","y":[1,2]}'],
    ],
  )
  t.match(draft.toPerson(), { version: 3, isIdentified: true, properties: '{"a":1,"b":{"x":"ü","y":[1,2]}}' })
})

t.test('remembers events in the row, until it changes', async (t) => {
  const row = rowOf('{}')
  const draft = draftOf(row)
  draft.noteSeen(11)
  draft.noteSeen(22)
  draft.noteSeen(22)
  t.same(row.seen, { last: 22, before: 11, earlier: 0 })
  draft.change(4)
  t.same(draft.seen, nothingSeen)
  draft.noteSeen(33)
  t.same(
    row.seen,
    { last: 22, before: 11, earlier: 0 },
    'a change that may not be stored is not remembered in the row',
  )
  t.match(draft.toPerson(), { version: 4, seen: { last: 33, before: 0, earlier: 0 } })
})

t.test('remembers what only said suppressed properties while properties are set', async (t) => {
  const row = rowOf('{}')
  const draft = draftOf(row)
  for (const digest of [11, 22]) draft.noteSeen(digest)
  draft.changeBySet(4)
  t.same(draft.seen, { last: 11, before: 0, earlier: 0 })
  t.same(row.seen, { last: 22, before: 11, earlier: 0 })
  t.match(draft.toPerson(), { version: 4, seen: { last: 11, before: 0, earlier: 0 } })
})
