import t, { type Test } from 'tap'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { freshPostgres, silentLog } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** Everything heard on the channel `news`; null stands for a connection made. */
function listen(t: Test, postgres: Postgres): (string | null)[] {
  const heard: (string | null)[] = []
  const listening = postgres.listen('news', (payload) => heard.push(payload))
  t.teardown(() => listening.close())
  return heard
}

t.test('hears notifications on its channel', async (t) => {
  const postgres = await freshPostgres(t)
  const heard = listen(t, postgres)
  await until(() => heard.length === 1)
  await postgres.query(
    `select pg_notify('other', 'not for us'), pg_notify('news', 'one'), pg_notify('news', '')`,
  )
  await until(() => heard.length === 3)
  t.same(heard, [null, 'one', ''])
})

t.test('comes back when the connection was cut, and says that it may have missed something', async (t) => {
  const postgres = await freshPostgres(t)
  const heard = listen(t, postgres)
  await until(() => heard.length === 1)
  await postgres.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where query like 'listen%' and datname = current_database()`,
  )
  await until(() => heard.length === 2)
  await postgres.query(`select pg_notify('news', 'two')`)
  await until(() => heard.length === 3)
  t.same(heard, [null, null, 'two'])
})

t.test('closes at once while nobody answers', async (t) => {
  const postgres = openPostgres({ connectionString: 'postgresql://spate@127.0.0.1:1/spate', log: silentLog })
  const listening = postgres.listen('news', () => t.fail('heard something'))
  await listening.close()
  await postgres.close()
})
