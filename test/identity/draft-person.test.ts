import t from 'tap'
import { DraftPerson } from '../../src/identity/draft-person.ts'
import type { Person } from '../../src/identity/known.ts'
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
    seenLast: 0,
    seenBefore: 0,
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

t.test('remembers two events in the row, until it changes', async (t) => {
  const row = rowOf('{}')
  const draft = draftOf(row)
  draft.noteSeen(11)
  draft.noteSeen(22)
  draft.noteSeen(22)
  t.same([row.seenLast, row.seenBefore], [22, 11])
  draft.change(4)
  t.same([draft.seenLast, draft.seenBefore], [0, 0])
  draft.noteSeen(33)
  t.same(
    [row.seenLast, row.seenBefore],
    [22, 11],
    'a change that may not be stored is not remembered in the row',
  )
  t.match(draft.toPerson(), { version: 4, seenLast: 33, seenBefore: 0 })
})
