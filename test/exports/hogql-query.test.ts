import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { readExportQuery } from '../../src/exports/hogql-query.ts'
import { openWorld } from '../query/world.ts'

t.test('says what a query makes of an event', async (t) => {
  const { runner } = await openWorld(t)
  const text = `select event, toString(uuid) as id, properties.$browser,
    properties.plan as "the plan" from events where event != 'x'`
  t.strictSame(await readExportQuery(runner, text, 1), {
    fields: [
      { expression: '"event"', alias: 'event' },
      { expression: 'tostring(uuid)', alias: 'id' },
      { expression: 'properties."$browser"', alias: '$browser' },
      { expression: 'properties.plan', alias: 'the plan' },
    ],
    values: {},
    hogql_query:
      `SELECT "event", tostring(uuid) AS id, properties."$browser", properties.plan AS "the plan" ` +
      `FROM events WHERE ("event" != 'x')`,
  })
})

t.test('calls what has no name by its own text, as short as a destination takes it', async (t) => {
  const { runner } = await openWorld(t)
  const aliases = async (text: string) =>
    (await readExportQuery(runner, text, 1)).fields.map(({ alias }) => alias)
  t.strictSame(await aliases('select lower( event ), e.event, properties.a.b, * from events e'), [
    'lower(event)',
    'event',
    'b',
    '*',
  ])
  const wide = (count: number) => `lower('${'é'.repeat(count)}')`
  t.strictSame(await aliases(`select ${wide(25)}, ${wide(27)}, '${'x'.repeat(60)}' as a from events`), [
    wide(25),
    `lower('${'é'.repeat(26)}`,
    'a',
  ])
})

t.test('takes one plain SELECT from events', async (t) => {
  const { runner } = await openWorld(t)
  const rows: [text: string, detail: string][] = [
    ['SELECT', 'Failed to parse query'],
    ['', 'Failed to parse query'],
    ["copy events to 'x'", 'Failed to parse query'],
    ['select event from events union all select event from events', 'UNIONs are not supported'],
    ['select a.event from events a join events b on true', 'JOINs are not supported'],
    ['select 1', 'Query must SELECT FROM events'],
    ['select * from persons', 'Query must only SELECT FROM events'],
    ["select * from read_csv('/etc/passwd')", 'Query must only SELECT FROM events'],
    ['select * from (select * from events)', 'Subqueries or CTEs are not supported'],
    ['with a as (select 1) select * from events', 'Subqueries or CTEs are not supported'],
    ['select (select 1) from events', 'Subqueries or CTEs are not supported'],
    ["select getenv('HOME') from events", "Invalid HogQL query: Unknown function 'getenv'"],
    ['select uuid from main.events', "Invalid HogQL query: Unknown table 'events'. Tables are: events"],
  ]
  for (const [text, detail] of rows) {
    const error = await readExportQuery(runner, text, 1).catch((thrown: unknown) => thrown)
    t.ok(isServiceError(error, 'invalid_input') && error.attr === 'hogql_query', text)
    t.equal(isServiceError(error) ? error.detail : String(error), detail)
  }
  const unknown = await readExportQuery(runner, 'select evnt from events', 1).catch(
    (thrown: unknown) => thrown,
  )
  t.match(unknown, { code: 'invalid_input', detail: /^Invalid HogQL query: Binder Error: .*evnt/ })
})

t.test('takes what makes a row of an event, and nothing that looks at more', async (t) => {
  const { runner } = await openWorld(t)
  const takes = [
    'select event, uuid as uuid from events order by timestamp',
    'select *, upper(event) from events',
    "select arrayJoin(splitByChar(',', event)) as part from events",
  ]
  for (const text of takes) t.equal((await readExportQuery(runner, text, 1)).fields.length > 0, true, text)
  const refused: [text: string, what: string][] = [
    ['select event from events limit 10', 'LIMIT, OFFSET and DISTINCT'],
    ['select event from events offset 1', 'LIMIT, OFFSET and DISTINCT'],
    ['select distinct event from events', 'LIMIT, OFFSET and DISTINCT'],
    ['select event, row_number() over () from events', 'window functions'],
    ['select event, count(*) from events group by event', 'aggregates'],
    ['select event, count(*) from events group by all', 'aggregates'],
    ['select count(*) from events', 'aggregates'],
    ["select countIf(event = 'a') / 2 as half from events", 'aggregates'],
    ['select uniq(distinct_id) from events having count(*) > 1', 'aggregates'],
  ]
  for (const [text, what] of refused) {
    const detail = `Query must make one row of each event: ${what} would see one chunk of a run at a time`
    await t.rejects(
      readExportQuery(runner, text, 1),
      { code: 'invalid_input', attr: 'hogql_query', detail },
      text,
    )
  }
})
