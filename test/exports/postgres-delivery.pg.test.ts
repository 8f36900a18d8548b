import t from 'tap'
import type { Delivery } from '../../src/exports/delivery.ts'
import { postgresDestination } from '../../src/exports/postgres-destination.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { silentLog } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { openDeliveryTo, openPlace } from './postgres-place.ts'
import { config, never, stage, subject } from './staged.ts'

const csv = postgresDestination.format(config('NoOp', {}))

t.test('a COMMIT that is under way still when the chunk comes again is waited for', async (t) => {
  const place = await openPlace(t)
  const postgres = openPostgres({ connectionString: place.connectionString, log: silentLog })
  t.teardown(() => postgres.close())
  const chunk = await stage(t, csv)
  /** Delivers while another connection is at the end of `statement`, and until that has committed. */
  const beside = async (delivery: Delivery, index: number, statement: string): Promise<Promise<void>> => {
    let delivered = Promise.resolve()
    let isDelivered = false
    await postgres.transaction(async (session) => {
      await session.query(statement)
      delivered = delivery.deliver({ ...chunk, index }, never).finally(() => {
        isDelivered = true
      })
      delivered.catch(() => {}) // looked at by the caller
      await until(
        async () =>
          isDelivered || (await postgres.query('select from pg_locks where not granted')).rowCount > 0,
      )
    })
    return delivered
  }
  const count = async () => (await place.sql('select count(*)::integer as n from events'))[0]
  const first = await openDeliveryTo(t, place)
  await first.deliver(chunk, never)
  const mark = `insert into spate_export_chunk values ('${subject.runId}', 1, now())`
  await t.rejects(beside(first, 1, mark), {
    kind: 'temporary',
    message: 'An earlier attempt has delivered the chunk at this moment after all.',
  })
  await first.deliver({ ...chunk, index: 1 }, never)
  t.same(await count(), { n: 3 })
  // A run that was stopped, and the one that takes its interval once more.
  await place.sql('create table kept as table events')
  await place.sql('delete from events')
  const run = { ...subject, runId: '018f3c80-0000-7000-8000-00000000cccc', mayRepeat: true }
  await beside(await openDeliveryTo(t, place, {}, '127.0.0.1', run), 0, 'insert into events table kept')
  t.same(await count(), { n: 3 })
})
