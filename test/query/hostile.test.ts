import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { isAllowed } from '../../src/query/allowed-functions.ts'
import { translatedNames } from '../../src/query/translated-functions.ts'
import { hostileQueries } from './hostile-queries.ts'
import { openWorld, ourSecret, theirSecret } from './world.ts'

t.test('no hostile query runs', async (t) => {
  const { ask } = await openWorld(t)
  t.ok(hostileQueries.length >= 600, `${hostileQueries.length} statements`)
  for (const sql of hostileQueries) {
    const error = await ask(sql).catch((thrown: unknown) => thrown)
    const isRefused = isServiceError(error, 'invalid_input')
    if (!isRefused) t.fail(`${sql.slice(0, 120)}: ${JSON.stringify(error)?.slice(0, 200)} ${String(error)}`)
  }
  t.strictSame(await ask('select count(*) from events'), [['3']], 'the store goes on')
})

t.test('no function of DuckDB runs unless it is in the list', async (t) => {
  const { ask, runner } = await openWorld(t)
  const ours = new Set(translatedNames)
  const { rows } = await runner.query(
    "select distinct function_name from duckdb_functions() where function_name ~ '^[a-z_]\\w*$' order by 1",
  )
  const names = rows.map(([name]) => String(name)).filter((name) => !isAllowed(name) && !ours.has(name))
  t.ok(names.length > 400, `${names.length} functions`)
  for (const name of names) {
    const sql = `select ${name}(event, 1) from events`
    t.ok(isServiceError(await ask(sql).catch((thrown: unknown) => thrown), 'invalid_input'), sql)
  }
})

t.test('no query that runs shows another project', async (t) => {
  const { ask } = await openWorld(t)
  for (const sql of [
    'select * from events',
    'select * from events where team_id = 2 or 1 = 1',
    'select distinct_id from events group by all',
    'with events as (select * from events) select properties.plan from events',
    'with q_events as (select * from events) select * from q_events',
    'with s_events as (select 1 x) select * from s_events, events',
    'with EVENTS as (select * from Events) select * from eVents',
    'select * from (with event as (select * from events) select * from event) x',
    'select * from events a left join events b on true',
  ]) {
    const text = JSON.stringify(await ask(sql))
    t.notMatch(text, theirSecret, sql)
    t.ok(text.length > 10, sql)
  }
})

t.test('no query fails of what another project has', async (t) => {
  const { ask } = await openWorld(t)
  // A number in our rows, an error in theirs, which would name it.
  const number = `cast(replace(distinct_id, '${ourSecret}', '7') as integer)`
  for (const sql of [
    `select count(*) from events where ${number} = 7`,
    `select count(*) from events where ${number} = 7 and properties.plan = '${ourSecret}' and ${number} > 1`,
    `select count(*) from events where team_id <> 1 or ${number} = 7`,
    `select count(*) from (select *, ${number} as n from events) where n < 8`,
    `select count(*) from (select distinct uuid, ${number} from events)`,
    `select count(*) from events where cast(replace(properties.plan, '${ourSecret}', '7') as integer) in (6, 7)`,
    `select count(*) from (select a.uuid from events a semi join (select ${number} as n from events) b on b.n = 7)`,
    `select count(*) from events e where exists (select 1 from events where ${number} = 7 and uuid = e.uuid)`,
    `with n as (select ${number} as n from events) select count(*) from n where n = (select max(n) from n)`,
    `select count(*) from (select sum(${number}) over (partition by event) from events)`,
  ]) {
    t.strictSame(await ask(sql).catch(String), [['3']], sql)
  }
})
