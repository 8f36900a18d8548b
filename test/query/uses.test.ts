import t from 'tap'
import { parseQuery } from '../../src/query/compile.ts'
import { usesOf } from '../../src/query/uses.ts'
import { openWorld } from './world.ts'

t.test('sees what a query reads of persons and groups, and of their properties', async (t) => {
  const { runner } = await openWorld(t)
  const rows: [sql: string, copies: string[], keys: string[] | null][] = [
    ['select event from events', [], []],
    ['select properties from events', [], null],
    ['select person.properties.email from events', ['person'], ['email']],
    [
      "select e.person.properties['email'], properties.$browser from events e",
      ['person'],
      ['email', '$browser'],
    ],
    ["select JSONExtractString(properties, 'a', 'b') from persons", ['person'], ['a']],
    ["select properties ->> 'a', properties ->> 'b' from persons", ['person'], ['a', 'b']],
    ["select properties ->> '$.a' from persons", ['person'], null],
    ["select properties ->> concat('a', 'b') from persons", ['person'], null],
    [
      `select count() filter (where person.properties.x = JSONExtractString(properties, 'a') || group_2.key)
       from events`,
      ['person', 'group'],
      ['x', 'a'],
    ],
    ['select * from persons', ['person'], null],
    ['select p from persons p', ['person'], null],
    ['select PERSONS from persons', ['person'], null],
    ['select c from persons as p(a, b, c)', ['person'], null],
    ['select 1 from persons natural join groups', ['person', 'group'], null],
    ['select 1 from persons join groups using (properties)', ['person', 'group'], null],
    ['select toString(PERSON.Properties) from events', ['person'], null],
    ['select person.id from events', ['person'], []],
    ['select group_0.properties.name from events', ['group'], ['name']],
    ['select 1 where exists (select 1 from person_distinct_ids)', ['distinct_id'], []],
    [
      `select ${Array.from({ length: 51 }, (_, at) => `properties.k${at}`).join()} from persons`,
      ['person'],
      null,
    ],
  ]
  for (const [sql, copies, keys] of rows) {
    const uses = usesOf(await parseQuery(runner, sql))
    t.strictSame([uses.copies, uses.keys], [copies, keys], sql)
  }
})
