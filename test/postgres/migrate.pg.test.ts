import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { migrate } from '../../src/postgres/migrate.ts'
import { openPostgres, sqlState } from '../../src/postgres/pool.ts'
import { freshDatabase, freshPostgres, silentLog as log } from '../support/postgres.ts'

t.test('applies what is missing, and nothing the second time', async (t) => {
  const postgres = await freshPostgres(t, true)
  const applied = await migrate({ postgres, log })
  t.equal(applied[0], '0001_organizations')
  t.same(await migrate({ postgres, log }), [])
  t.same((await postgres.query('select * from project')).rows, [])
})

t.test('lets the second of two starters wait for the first', async (t) => {
  const { connectionString } = await freshDatabase(t, true)
  const both = [1, 2].map(() => openPostgres({ connectionString, log }))
  const applied = await Promise.all(both.map((postgres) => migrate({ postgres, log })))
  t.same(applied.map((names) => names.includes('0001_organizations')).sort(), [false, true])
  await Promise.all(both.map((postgres) => postgres.close()))
})

t.test('refuses a database that a newer Spate has migrated', async (t) => {
  const postgres = await freshPostgres(t)
  await postgres.query(`insert into schema_migration (name, run_on) values ('9999_from_the_future', now())`)
  await t.rejects(migrate({ postgres, log }), { code: 'schema_newer', detail: /9999_from_the_future/ })
})

t.test('undoes the file that fails, keeps those before it, and goes on from there', async (t) => {
  const postgres = await freshPostgres(t, true)
  const folder = t.testdir({
    '0001_one.sql': 'create table one (id integer);',
    '0002_two.sql': 'create table two (id integer); select 1 / 0;',
    duckdb: { '0001_other.sql': 'not for Postgres' },
  })
  const error = await migrate({ postgres, log, folder }).catch((error: unknown) => error)
  t.equal(sqlState(error), '22012')
  const tables = `select table_name from information_schema.tables where table_name in ('one', 'two')`
  t.same((await postgres.query(tables)).rows, [{ table_name: 'one' }])
  writeFileSync(join(folder, '0002_two.sql'), 'create table two (id integer);')
  t.same(await migrate({ postgres, log, folder }), ['0002_two'])
})
