import t from 'tap'
import { cycleThrough, referencesIn } from '../../src/flags/references.ts'

t.test('finds what filters name, however deep', async (t) => {
  const { cohortIds, flagIds } = referencesIn({
    groups: [
      {
        properties: [
          { type: 'cohort', key: 'id', value: 7 },
          { type: 'flag', key: '3', value: true },
        ],
      },
      {
        properties: [
          { type: 'cohort', key: 'id', value: '8' },
          { type: 'person', key: '9', value: 9 },
        ],
      },
    ],
    super_groups: [{ properties: [{ type: 'flag', key: 4, value: 'v' }] }],
    properties: { type: 'AND', values: [{ type: 'OR', values: [{ type: 'cohort', value: 9 }] }] },
  })
  t.same([...cohortIds].sort(), [7, 8, 9])
  t.same([...flagIds].sort(), [3, 4])
  const none = referencesIn([
    null,
    { type: 'cohort', value: 'x' },
    { type: 'flag', key: '99999999999' },
    { type: 'cohort', value: -3e9 },
  ])
  t.same([none.cohortIds.size, none.flagIds.size], [0, 0])
})

t.test('finds a way back, and only that', async (t) => {
  const edges = new Map([
    [1, [2, 3]],
    [2, [4]],
    [3, [4, 5]],
    [4, []],
    [5, [1]],
    [6, [6]],
    [7, [1]],
  ])
  const from = (id: number) => cycleThrough(id, (one) => edges.get(one) ?? [])
  t.same(from(1), [1, 3, 5])
  t.same(from(5), [5, 1, 3])
  t.same(from(6), [6])
  t.equal(from(2), null)
  t.equal(from(7), null, 'it leads into a circle without being on it')
})
