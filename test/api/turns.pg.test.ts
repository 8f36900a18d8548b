import t from 'tap'
import { organizationSql } from '../../src/api/tenant-sql.ts'
import { Turns } from '../../src/api/turns.ts'
import { freshPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { ids, openWorld } from './world.ts'

t.test('a user with slow requests leaves the database to the others', async (t) => {
  const world = await openWorld(t)
  const lock = await world.postgres.hold()
  await lock.query('begin')
  await lock.query('lock table person in access exclusive mode')
  const slow = Array.from({ length: 12 }, () => world.get('/api/projects/1/persons/', 'phx_member'))
  await until(async () => {
    const { rows } = await world.postgres.query<{ count: number }>(
      `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rows[0]?.count ?? 0) >= 4
  })
  t.equal((await world.get(`/api/organizations/${ids.ours}/members/`, 'phx_owner')).status, 200)
  await lock.query('rollback')
  lock.release(true)
  t.same(new Set((await Promise.all(slow)).map(({ status }) => status)), new Set([200]))
})

t.test('too many transactions of a user that wait are refused', async (t) => {
  const postgres = await freshPostgres(t)
  const turns = new Turns()
  const sql = turns.of(1, organizationSql(postgres, 1, { id: ids.ours }))
  let finish = (): void => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const running = Array.from({ length: 104 }, () => sql.transaction(() => held))
  await t.rejects(sql.query('select 1'), { code: 'reads_overloaded', retryAfterSeconds: 5 })
  const other = turns.of(2, organizationSql(postgres, 2, { id: ids.ours }))
  t.equal((await other.query('select 1')).rowCount, 1)
  finish()
  await Promise.all(running)
  t.equal((await sql.query('select 1')).rowCount, 1)
})
