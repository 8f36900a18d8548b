import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { openWorld, ourSecret } from './world.ts'

t.test('people query their events', async (t) => {
  const { ask } = await openWorld(t)
  const rows: [sql: string, answer: unknown[][]][] = [
    ['select count(*) from events', [['3']]],
    ['SELECT event FROM events ORDER BY timestamp DESC LIMIT 1', [['event 2']]],
    ['select distinct_id, count(*) from events group by all', [[ourSecret, '3']]],
    ["select event from events where event = 'event 1';", [['event 1']]],
    // Properties, in every way in which they are written.
    ['select properties.$browser from events limit 1', [['Firefox']]],
    ['select e.properties.$browser as b from events e limit 1', [['Firefox']]],
    ['select events.properties.plan from events limit 1', [[ourSecret]]],
    ["select properties['$browser'] from events limit 1", [['Firefox']]],
    ["select properties->>'$browser' from events limit 1", [['Firefox']]],
    ["select properties->>'$.deep' from events limit 1", [['{"a\\"b/c":"found"}']]],
    ['select properties.deep."a""b/c" from events limit 1', [['found']]],
    ['select properties.`$browser` from events limit 1', [['Firefox']]],
    ["select JSONExtractString(properties, 'deep', 'a\"b/c') from events limit 1", [['found']]],
    ['select sum(toInt(properties.number)) from events', [['3']]],
    ['select $session_id, $group_0, $group_1 from events limit 1', [['s1', 'acme', null]]],
    // WITH, subqueries, joins, unions, windows.
    ['with a as (select event e from events) select max(e) from a', [['event 2']]],
    ['with events as (select event from events where 1 = 1) select count(*) from events', [['3']]],
    ['with a as (select 1 x), b as (select x + 1 as x from a) select a.x + b.x from a, b', [[3]]],
    ['select count(*) from events a join events b on a.uuid = b.uuid', [['3']]],
    ['select count(*) from (select * from events union all select * from events) u', [['6']]],
    [
      "select event in (select event from events where event = 'event 0') x from events order by event",
      [[true], [false], [false]],
    ],
    ['select row_number() over (order by timestamp) from events order by 1 limit 1', [['1']]],
    [
      'select (select count(*) from events b where b.timestamp <= a.timestamp) n from events a order by 1',
      [['1'], ['2'], ['3']],
    ],
    [
      'select * exclude (uuid, person_id, timestamp, properties, created_at, inserted_at) from events limit 1',
      [['event 0', ourSecret, '', 1, 's1', null, 'acme', null, null, null, null]],
    ],
    // Functions under ClickHouse's names.
    ["select uniq(event), countIf(event = 'event 1') from events", [['3', '1']]],
    [
      "select toDate(timestamp), toStartOfDay(timestamp) = toDateTime('2024-05-01') from events limit 1",
      [['2024-05-01', true]],
    ],
    [
      "select multiIf(1 = 2, 'a', 1 = 1, 'b', 'c'), if(1 = 1, 2, 3), not empty('x'), toString(5)",
      [['b', 2, true, '5']],
    ],
    ["select dateDiff('hour', min(timestamp), max(timestamp)) from events", [['2']]],
    ['select argMax(event, timestamp) from events', [['event 2']]],
    // Text and comments as they are written elsewhere.
    ["select 'it\\'s', 'a''b', 'c\\\\d' -- and 'so' on", [["it's", "a'b", 'c\\d']]],
    ['select /* $1 */ 1', [[1]]],
    ['select 9223372036854775807', [['9223372036854775807']]],
    ['select timestamp > now() - interval 1 day from events limit 1', [[false]]],
    ["select count(*) filter (where event like 'event%'), count(distinct event) from events", [['3', '3']]],
    [
      "select '1'::integer + 1, '7'::varchar(1), '1.239'::decimal, '12.5'::decimal(3), date '2024-05-01', 5::text",
      [[2, '7', '1.239', '13', '2024-05-01', '5']],
    ],
    [
      'select try_cast(properties.plan as integer), 1.5::decimal(5,2), event is null from events limit 1',
      [[null, '1.50', false]],
    ],
  ]
  for (const [sql, answer] of rows) {
    try {
      t.strictSame(await ask(sql), answer, sql)
    } catch (error) {
      t.fail(`${sql}: ${String(error)}`)
    }
  }
})

t.test('says what it cannot take', async (t) => {
  const { ask } = await openWorld(t)
  const rows: [sql: string, detail: string][] = [
    ['SELECT', 'Failed to parse query: SELECT clause without selection list'],
    ['', 'Failed to parse query: expected one SELECT statement'],
    ['select 1; select 2', 'Failed to parse query: expected one SELECT statement'],
    ['delete from events', 'Failed to parse query: only SELECT statements are allowed'],
    ["select 'open", 'Failed to parse query: a text has no closing quote'],
    ['select "open', 'Failed to parse query: a name has no closing quote'],
    ['select /* open', 'Failed to parse query: a comment has no end'],
    ['select 1e400', 'Failed to parse query: a number is too large'],
    [
      'select * from people',
      "Unknown table 'people'. Tables are: events, sessions, persons, person_distinct_ids, groups",
    ],
    ['select person.email from events', "Unknown field 'person.email'"],
    ['select person.created_at.x from events', "Unknown field 'person.created_at.x'"],
    [
      'select person.id from events natural join events b',
      'NATURAL JOIN beside fields of persons or groups is not allowed in a query',
    ],
    ["select * from read_csv('x')", 'table function in FROM is not allowed in a query'],
    ["select getenv('HOME')", "Unknown function 'getenv'"],
    ['select cuont(1)', "Unknown function 'cuont'. Did you mean count?"],
    ['select 1 where {filters}', 'Failed to parse query: placeholders such as {filters} have no value here'],
    [
      'with recursive a as (select 1 union all select * from a) select * from a',
      'RECURSIVE CTE NODE is not allowed in a query',
    ],
    ['select uniq()', "Function 'uniq' does not take 0 arguments"],
    ['select * from events limit 10%', 'limit percent modifier is not allowed in a query'],
    ['select * from events limit (select 1)', 'LIMIT and OFFSET must be whole numbers'],
    [
      `select '${'x'.repeat(32 * 1024)}'`,
      'Failed to parse query: a query has at most 32768 characters, this one 32777',
    ],
    [
      `select ${'('.repeat(101)}1${')'.repeat(101)}`,
      'Failed to parse query: brackets are nested deeper than 100',
    ],
    [`select 1${'+1'.repeat(201)}`, 'Expressions are nested deeper than 200'],
    [
      `select 1 from ${Array.from({ length: 17 }, (_, at) => `events e${at}`).join(',')}`,
      'The query reads tables more than 16 times',
    ],
    [
      'with a as (select concat(uuid, uuid, uuid, uuid, uuid) e from events) select concat(e, e, e, e) || e || e',
      'The query joins or replaces too much text: its results could grow without limit',
    ],
    ['select replace(event, event, event) from events', 'The replacement of replace must be a text'],
  ]
  for (const [sql, detail] of rows) {
    const error = await ask(sql).catch((thrown: unknown) => thrown)
    t.ok(isServiceError(error, 'invalid_input'), sql.slice(0, 80))
    t.equal(isServiceError(error) ? error.detail : String(error), detail)
  }
  t.strictSame(await ask(`select ${'('.repeat(100)}1${')'.repeat(100)}`), [[1]])
  t.strictSame(
    await ask(`select count(*) from ${Array.from({ length: 8 }, (_, at) => `events e${at}`).join(',')}`),
    [['6561']],
  )
})
