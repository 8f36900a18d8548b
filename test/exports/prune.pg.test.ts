import t from 'tap'
import { prune } from '../../src/exports/prune.ts'
import { minuteMs, openExportsWorld } from './world.ts'

const days = (count: number) => count * 24 * 60

t.test('lines of logs go when they are older than the limit, and so do ids long deleted', async (t) => {
  const world = await openExportsWorld(t, { logDays: 7 })
  const { postgres } = world
  const id = await world.makeExport({ paused: true })
  await postgres.query(
    `insert into batch_export_log (project_id, batch_export_id, level, message, timestamp)
     select 1, $1, 'INFO', n::text, to_timestamp($2) + n * interval '1 minute' from generate_series(0, 10001) n`,
    [id, world.nowMs / 1000],
  )
  await postgres.query(
    `insert into person_distinct_id_deleted (project_id, distinct_id, person_uuid, version, changed_at)
     values (1, 'old', gen_random_uuid(), 1, to_timestamp($1)), (1, 'new', gen_random_uuid(), 1, to_timestamp($2))`,
    [world.nowMs / 1000, world.nowMs / 1000 + 60],
  )
  const left = async () => {
    const { rows } = await postgres.query<{ n: number }>('select count(*) as n from batch_export_log')
    return rows[0]?.n
  }
  world.at(days(7))
  await world.exports.tick()
  t.equal(await left(), 10_002)
  world.at(days(7) + 1)
  await world.exports.tick()
  // Looked for once an hour.
  t.equal(await left(), 10_002)
  world.at(days(7) + 60)
  await world.exports.tick()
  t.equal(await left(), 10_002 - 60)
  t.equal(await prune(postgres, 7, world.nowMs + 10_002 * minuteMs), 10_002 - 60)
  const { rows } = await postgres.query('select distinct_id from person_distinct_id_deleted order by 1')
  t.strictSame(rows, [{ distinct_id: 'new' }, { distinct_id: 'old' }])
  world.at(days(30))
  await prune(postgres, 7, world.nowMs)
  t.equal((await postgres.query('select from person_distinct_id_deleted')).rowCount, 2)
  await prune(postgres, 7, world.nowMs + 1)
  t.equal((await postgres.query('select from person_distinct_id_deleted')).rowCount, 1)
})
