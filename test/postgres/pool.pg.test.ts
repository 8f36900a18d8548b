import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { isBusy, isoTimestamp, isTransient, often, openPostgres, sqlState } from '../../src/postgres/pool.ts'
import { freshDatabase, freshPostgres, silentLog } from '../support/postgres.ts'

const nowhere = 'postgresql://spate@127.0.0.1:1/spate'

t.test('answers timestamps as ISO text in UTC with microseconds, and bigints as numbers', async (t) => {
  const postgres = await freshPostgres(t)
  const { rows } = await postgres.query(
    `select '2021-08-08 22:20:08.12+02'::timestamptz as a, '2021-08-08 20:20:08Z'::timestamptz as b,
            9007199254740991 as c`,
  )
  t.same(rows, [{ a: '2021-08-08T20:20:08.120000Z', b: '2021-08-08T20:20:08Z', c: 9007199254740991 }])
  t.equal(isoTimestamp('infinity'), 'infinity')
})

t.test('commits a transaction that resolves and undoes one that throws', async (t) => {
  const postgres = await freshPostgres(t)
  await postgres.query('create table seen (id integer)')
  await postgres.transaction((session) => session.query('insert into seen values ($1)', [1]))
  const failure = postgres.transaction(async (session) => {
    await session.query('insert into seen values (2)')
    throw new Error('changed my mind')
  })
  await t.rejects(failure, { message: 'changed my mind' })
  t.same((await postgres.query('select id from seen')).rows, [{ id: 1 }])
})

t.test('reports an error of the statement with its SQLSTATE, and goes on', async (t) => {
  const postgres = await freshPostgres(t)
  const error = await postgres.query('select * from nowhere').catch((error: unknown) => error)
  t.equal(sqlState(error), '42P01')
  t.equal(isTransient(error), false)
  t.equal((await postgres.query('select 1')).rowCount, 1)
})

t.test('says postgres_unavailable when nobody listens, and never ends the process', async (t) => {
  const postgres = openPostgres({ connectionString: nowhere, log: silentLog })
  const listening = postgres.listen('anything', () => t.fail('heard something'))
  const error = await postgres.query('select 1').catch((error: unknown) => error)
  t.ok(isServiceError(error, 'postgres_unavailable'))
  t.ok(isTransient(error))
  await listening.close()
  await postgres.close()
})

t.test(
  'says postgres_unavailable when the server cuts the connection, and is whole again after',
  async (t) => {
    const postgres = await freshPostgres(t)
    const error = await postgres
      .transaction((session) => session.query('select pg_terminate_backend(pg_backend_pid())'))
      .catch((error: unknown) => error)
    t.ok(isServiceError(error, 'postgres_unavailable'))
    t.equal((await postgres.query('select 1')).rowCount, 1)
  },
)

t.test('survives that the server cuts an idle connection', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const one = openPostgres({ connectionString, log: silentLog })
  const other = openPostgres({ connectionString, log: silentLog })
  const { rows } = await one.query<{ pid: number }>('select pg_backend_pid() as pid')
  await other.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid])
  // The first statement may meet the connection before the news of its end.
  await one.query('select 1').catch((error: unknown) => t.ok(isTransient(error)))
  t.equal((await one.query('select 1')).rowCount, 1)
  await Promise.all([one.close(), other.close()])
})

/** Longer than any other statement here takes on a busy machine. */
const statementMsMax = 500

t.test('cuts a statement that takes too long', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog, statementMsMax })
  const error = await postgres.query('select pg_sleep(60)').catch((error: unknown) => error)
  t.equal(sqlState(error), '57014')
  await postgres.close()
})

t.test('waits a while for a connection when all are taken, and no longer', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog, connectionsMax: 1 })
  t.teardown(() => postgres.close())
  const only = await postgres.hold()
  await t.rejects(postgres.query('select 1'), { code: 'postgres_unavailable', retryAfterSeconds: 5 })
  const patient = postgres.query('select 1')
  only.release(true)
  t.equal((await patient).rowCount, 1)
})

t.test('knows a statement that may go well when sent again from one that is wrong', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog, statementMsMax })
  t.teardown(() => postgres.close())
  t.ok(isBusy(await postgres.query('select pg_sleep(60)').catch((error: unknown) => error)))
  t.notOk(isBusy(await postgres.query('select 1 / 0').catch((error: unknown) => error)))
})

t.test('gives up a statement whose server has gone silent', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog, statementMsMax })
  const { rows } = await postgres.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  t.teardown(() => process.kill(pid, 'SIGCONT'))
  await t.rejects(postgres.query('select 1'), { code: 'postgres_unavailable' })
  t.equal((await postgres.query('select 1')).rowCount, 1)
  await postgres.close()
})

t.test('refuses statements once closed', async (t) => {
  const postgres = await freshPostgres(t)
  await postgres.close()
  await t.rejects(postgres.query('select 1'), { code: 'stopping' })
})

t.test('a pool that plans once sends each statement by name, with any parameters', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog, connectionsMax: 1, plansOnce: true })
  t.teardown(() => postgres.close())
  for (const value of [1, 2, 3]) {
    t.same((await postgres.query('select $1::integer + 1 as sum', [value])).rows, [{ sum: value + 1 }])
  }
  const { rows } = await postgres.query(
    'select name, generic_plans::integer as generic from pg_prepared_statements order by name',
  )
  t.same(rows, [
    { name: 'spate_0', generic: 3 },
    { name: 'spate_1', generic: 1 },
  ])
})

t.test('plans a statement that is sent often a few times, and any other each time', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog, connectionsMax: 1 })
  t.teardown(() => postgres.close())
  await postgres.query('create table thing (id integer primary key)')
  await postgres.query('insert into thing select generate_series(1, 100)')
  const find = often('select id from thing where id = $1')
  for (let id = 1; id <= 8; id++) {
    t.same((await postgres.query(find, [id])).rows, [{ id }])
    await postgres.query('select id from thing where id = $1 and true', [id])
  }
  const { rows } = await postgres.query(
    'select statement, custom_plans::integer as planned, generic_plans::integer as reused from pg_prepared_statements',
  )
  t.same(rows, [{ statement: find, planned: 5, reused: 3 }])
})

t.test('keeps plans of the first few statements that are said to be sent often', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog, connectionsMax: 1 })
  t.teardown(() => postgres.close())
  for (let round = 1; round <= 2; round++) {
    for (let n = 1; n <= 50; n++)
      t.same((await postgres.query(often(`select ${n} as n where ${n} > $1`), [0])).rows, [{ n }])
  }
  const { rows } = await postgres.query<{ statement: string }>('select statement from pg_prepared_statements')
  // The test before has marked one.
  t.equal(rows.length, 39)
  t.ok(rows.some(({ statement }) => statement.startsWith('select 39 as')))
})
