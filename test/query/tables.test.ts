import t from 'tap'
import { fieldColumn, peopleTable } from '../../src/query/tables.ts'
import { openWorld, ourSecret } from './world.ts'

t.test('people query persons, their ids, groups and sessions', async (t) => {
  const { ask } = await openWorld(t)
  const first = '00000000-0000-4000-8000-000000000010'
  const rows: [sql: string, answer: unknown[][]][] = [
    ['select count(*) from persons', [['2']]],
    [
      'select properties.email, is_identified from persons order by id',
      [
        [ourSecret, true],
        [null, false],
      ],
    ],
    ["select id from persons where properties.$browser = 'Firefox'", [[first]]],
    [
      'select distinct_id, person_id from person_distinct_ids order by 1',
      [
        [ourSecret, first],
        ['second\x1e', `${first.slice(0, -1)}1`],
      ],
    ],
    [
      'select index, key, properties.email from groups order by index',
      [
        [0, 'acme', ourSecret],
        [1, 'acme', null],
      ],
    ],
    [
      'select session_id, $session_duration, $pageview_count, distinct_id from sessions',
      [['s1', '7200', '0', ourSecret]],
    ],
    // Joins as they are written out.
    [
      'select e.event, p.properties.email from events e join persons p on e.person_id = p.id order by 1',
      [
        ['event 0', ourSecret],
        ['event 1', null],
      ],
    ],
    [
      'select count(*) from events e left join person_distinct_ids d on d.distinct_id = e.distinct_id',
      [['3']],
    ],
    [
      'select g.properties.email from events join groups g on g.index = 0 and g.key = $group_0 limit 1',
      [[ourSecret]],
    ],
    // Fields of joined rows.
    [
      'select person.properties.email, person.id = person_id from events order by timestamp',
      [
        [ourSecret, true],
        [null, true],
        [null, true],
      ],
    ],
    ['select e.person.properties.email from events e order by timestamp limit 1', [[ourSecret]]],
    ['select events.person.is_identified from events order by timestamp', [[true], [false], [null]]],
    ["select person.properties['email'] from events order by timestamp limit 1", [[ourSecret]]],
    ["select JSONExtractInt(person.properties, 'n') from events order by timestamp limit 1", [['1']]],
    ['select toDate(person.created_at) from events order by timestamp limit 1', [['2024-05-01']]],
    [
      'select person.properties.email, count() from events group by person.properties.email order by 2',
      [
        [ourSecret, '1'],
        [null, '2'],
      ],
    ],
    [
      "select count(distinct person.properties.email) from events where person.properties.email = 'our secret'",
      [['1']],
    ],
    [
      'select group_0.properties.email, group_0.key, group_1.properties.email from events limit 1',
      [[ourSecret, 'acme', null]],
    ],
    [
      'select d.person.properties.email from person_distinct_ids d order by distinct_id',
      [[ourSecret], [null]],
    ],
    // A star has no columns of joined rows.
    [
      `select * exclude (properties, timestamp, created_at, inserted_at, uuid, person_id)
       from events where person.is_identified`,
      [['event 0', ourSecret, '', 1, 's1', null, 'acme', null, null, null, null]],
    ],
    ['select a.*, b.person.id from person_distinct_ids a, events b limit 0', []],
    // Names that look like joined rows and are not.
    ['select person.event from events person order by timestamp limit 1', [['event 0']]],
    ['with person as (select 7 id) select person.id from person', [[7]]],
    ['select properties.person from events limit 1', [[null]]],
    ['select persons.properties.email from persons order by id limit 1', [[ourSecret]]],
  ]
  for (const [sql, answer] of rows) {
    try {
      t.strictSame(await ask(sql), answer, sql)
    } catch (error) {
      t.fail(`${sql}: ${String(error)}`)
    }
  }
})

t.test('every table is cut to its project', async (t) => {
  t.match(peopleTable('groups', 7, []).sql, /where t\.project_id = 7$/)
  t.strictSame(peopleTable('events', 7, ['group_1']).hidden, ['_group_1_properties', '_group_1_created_at'])
  t.strictSame(peopleTable('sessions', 7, ['person']).hidden, [])
  t.throws(() => peopleTable('events', Number.NaN, []), /number/)
  t.strictSame(
    ['id', 'properties', 'email'].map((field) => fieldColumn('person', field)),
    ['person_id', '_person_properties', null],
  )
})
