import t from 'tap'
import { ServiceError } from '../../src/errors.ts'
import { FoldError, failureOf } from '../../src/persons/failure.ts'
import { personsDatabase } from './world.ts'

t.test('tells events at fault from what passes and from bugs', async (t) => {
  const { postgres } = await personsDatabase(t)
  const errorOf = (sql: string) => postgres.query(sql).catch((error: unknown) => error)
  const poison = [
    await errorOf(`select 'a'::integer`),
    await errorOf(`insert into person_gap values (null, 1, 2, now())`),
    await errorOf(
      `insert into person_distinct_id select 1, string_agg(gen_random_uuid()::text, ''), gen_random_uuid()
       from generate_series(1, 500)`,
    ),
    new FoldError('a shape nobody thought of'),
  ]
  for (const error of poison) t.equal(failureOf(error), 'poison', String(error))
  const passing = [
    await errorOf('select pg_terminate_backend(pg_backend_pid())'),
    await errorOf('select * from not_migrated_yet'),
    // Last: the connection keeps the setting.
    await errorOf(`set statement_timeout = 1; select pg_sleep(1)`),
    new ServiceError('store_fenced'),
    Object.assign(new Error('EIO'), { syscall: 'read' }),
  ]
  for (const error of passing) t.equal(failureOf(error), 'transient', String(error))
  t.equal(failureOf(new TypeError('undefined is not a function')), 'bug')
})
