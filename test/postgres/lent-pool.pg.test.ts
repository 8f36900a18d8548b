import t from 'tap'
import { openLentPool } from '../../src/postgres/lent-pool.ts'
import { freshDatabase, silentLog as log } from '../support/postgres.ts'

t.test('a connection that breaks, in use or idle, is replaced', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const pool = openLentPool({ connectionString, connectionsMax: 2, log })
  t.teardown(() => pool.end())
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'spate' and pid <> pg_backend_pid() and datname = current_database()`
  const held = await pool.connect()
  const gone = new Promise((resolve) => held.once('end', resolve))
  await pool.query(cut)
  await gone
  await t.rejects(held.query('select 1'))
  held.release(true)
  t.same((await pool.query('select 1 as n')).rows, [{ n: 1 }])

  const taken = await pool.connect() // the idle one
  const other = await pool.connect()
  other.release()
  const broken = new Promise((resolve) => pool.once('error', resolve))
  await taken.query(cut)
  await broken
  taken.release()
  t.same((await pool.query('select 2 as n')).rows, [{ n: 2 }])
})
