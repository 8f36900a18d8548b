// Reads of concurrent requests share a statement: each must get its own answer, as if it had been alone.

import t from 'tap'
import { KnownSubjects } from '../../src/flags/known-subjects.ts'
import { openStoredReads, type StoredAnswer, type StoredQuestion } from '../../src/flags/stored-reads.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import type { Postgres } from '../../src/postgres/pool.ts'
import { freshPostgres, silentLog as log } from '../support/postgres.ts'

const ada = '00000000-0000-5000-8000-00000000000a'
const bob = '00000000-0000-5000-8000-00000000000b'

/** Two projects with the same ids in both, and one person with two of them. */
async function makeWorld(postgres: Postgres): Promise<void> {
  await postgres.query(`insert into person (project_id, uuid, created_at, is_identified, version, properties,
      properties_bytes) values
    (1, '${ada}', now(), true, 0, '{"name": "ada"}', 15), (2, '${ada}', now(), true, 0, '{"name": "other ada"}', 21),
    (1, '${bob}', now(), true, 0, '{"name": "bob"}', 15)`)
  await postgres.query(`insert into person_distinct_id (project_id, distinct_id, person_uuid) values
    (1, 'ada', '${ada}'), (1, 'ada''s "phone"', '${ada}'), (1, 'bob', '${bob}'), (2, 'ada', '${ada}')`)
  await postgres.query(`insert into project_group (project_id, type_index, key, created_at, version, properties,
      properties_bytes) values
    (1, 0, 'acme', now(), 1, '{"size": 1}', 11), (1, 1, 'acme', now(), 1, '{"size": 2}', 11),
    (2, 0, 'acme', now(), 1, '{"size": 3}', 11)`)
  await postgres.query(`insert into cohort_person (project_id, cohort_id, person_uuid) values
    (1, 7, '${ada}'), (1, 8, '${ada}'), (1, 7, '${bob}'), (2, 9, '${ada}')`)
  await postgres.query(`insert into flag_hash_key_override (project_id, distinct_id, flag_key, hash_key) values
    (1, 'ada''s "phone"', 'f', 'oldest'), (1, 'ada', 'f', 'later'), (1, 'ada', 'g "x"', 'of g'), (2, 'ada', 'f', '2')`)
}

const asked = (
  projectId: number,
  distinctId: string,
  more: Partial<StoredQuestion> = {},
): StoredQuestion => ({
  projectId,
  distinctId,
  groups: [],
  staticCohortIds: [],
  keptFlagKeys: [],
  ...more,
})

const plain = (answer: StoredAnswer | null) =>
  answer && {
    person: answer.person,
    groups: [...answer.groups],
    cohorts: [...answer.staticCohorts].sort(),
    hashKeys: [...answer.hashKeys].sort(),
  }

t.test('each of many that ask at once gets its own answer', async (t) => {
  const postgres = await freshPostgres(t)
  await makeWorld(postgres)
  const stored = openStoredReads(postgres, new KnownSubjects(clock), log)
  const acme = [
    { typeIndex: 0, key: 'acme' },
    { typeIndex: 1, key: 'acme' },
    { typeIndex: 2, key: 'acme' },
  ]
  const all = { groups: acme, staticCohortIds: [7, 8, 9], keptFlagKeys: ['f', 'g "x"'] }
  // The first two are under way alone; the others are one group.
  const answers = await Promise.all(
    [
      asked(1, 'nobody'),
      asked(1, 'nobody', all),
      asked(1, 'ada', all),
      asked(2, 'ada', all),
      asked(1, 'bob', { staticCohortIds: [7, 8] }),
      asked(1, 'ada\'s "phone"', { staticCohortIds: [8], keptFlagKeys: ['f'] }),
      asked(2, 'bob', { groups: acme }),
      asked(1, '{"ada",\\}'),
      asked(3, 'ada', all),
    ].map((one) => stored.read(one)),
  )
  const nothing = { person: {}, groups: [], cohorts: [], hashKeys: [] }
  const size = (index: number, value: number) => [index, { size: value }]
  t.same(answers.map(plain), [
    nothing,
    { ...nothing, groups: [size(0, 1), size(1, 2)] },
    {
      person: { name: 'ada' },
      groups: [size(0, 1), size(1, 2)],
      cohorts: [7, 8],
      hashKeys: [
        ['f', 'oldest'],
        ['g "x"', 'of g'],
      ],
    },
    { person: { name: 'other ada' }, groups: [size(0, 3)], cohorts: [9], hashKeys: [['f', '2']] },
    { ...nothing, person: { name: 'bob' }, cohorts: [7] },
    { ...nothing, person: { name: 'ada' }, cohorts: [8], hashKeys: [['f', 'oldest']] },
    { ...nothing, groups: [size(0, 3)] },
    nothing,
    nothing,
  ])
})

t.test('many that ask at once share statements', async (t) => {
  const postgres = await freshPostgres(t)
  await makeWorld(postgres)
  let statements = 0
  const counted: Postgres = {
    ...postgres,
    query: (sql, params) => {
      statements++
      return postgres.query(sql, params)
    },
  }
  const stored = openStoredReads(counted, new KnownSubjects(clock), log)
  const answers = await Promise.all(
    Array.from({ length: 34 }, (_, index) => stored.read(asked(1, index % 2 === 0 ? 'ada' : 'bob'))),
  )
  t.same(
    answers.map((answer) => answer?.person.name),
    Array.from({ length: 34 }, (_, index) => (index % 2 === 0 ? 'ada' : 'bob')),
  )
  t.equal(statements, 4, 'two alone, then two groups of sixteen')
})

t.test('a question that cannot be answered takes no other along', async (t) => {
  const postgres = await freshPostgres(t)
  await makeWorld(postgres)
  const stored = openStoredReads(postgres, new KnownSubjects(clock), log)
  const tooLarge = { staticCohortIds: [2 ** 31] }
  const questions = [
    asked(1, 'x'),
    asked(1, 'x'),
    asked(1, 'ada'),
    asked(1, 'bob', tooLarge),
    asked(1, 'bob'),
  ]
  const answers = await Promise.all(questions.map((one) => stored.read(one)))
  t.same(
    answers.map((answer) => answer?.person ?? null),
    [{}, {}, { name: 'ada' }, null, { name: 'bob' }],
  )
})
