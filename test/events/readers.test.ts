import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { Readers, readMsMax, runQuery } from '../../src/events/readers.ts'
import type { Clock } from '../../src/lib/clock.ts'

const endless = 'select count(*) from range(100000000000) where range % 7 = 8'

async function open() {
  const state = { nowMs: 0 }
  const clock: Clock = { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs }
  const instance = await DuckDBInstance.create(':memory:')
  const readers = new Readers(instance, clock)
  const query = (sql: string) => readers.run((connection) => runQuery(connection, sql, []))
  return { readers, query, state }
}

const outcome = (running: Promise<unknown>) => running.catch((error: unknown) => error)

t.test('stops a read that runs too long, and reads on', async (t) => {
  const { readers, query, state } = await open()
  t.teardown(() => readers.close())
  const running = outcome(query(endless))
  state.nowMs = readMsMax + 1
  t.ok(isServiceError(await running, 'reads_overloaded'))
  t.strictSame(await query('select 1 as one'), { columns: ['one'], rows: [[1]] })
})

t.test('stops every read when memory is wanted or the store closes', async (t) => {
  const { readers, query } = await open()
  const first = outcome(query(endless))
  const second = outcome(query(endless))
  await readers.close()
  t.ok(isServiceError(await first, 'reads_overloaded'))
  t.ok(isServiceError(await second, 'reads_overloaded'))
  t.ok(isServiceError(await outcome(query('select 1')), 'stopping'))
})

t.test('binds values as parameters and refuses everything but one SELECT', async (t) => {
  const { readers } = await open()
  t.teardown(() => readers.close())
  const run = (sql: string, values: (string | number | null)[] = []) =>
    outcome(readers.run((connection) => runQuery(connection, sql, values)))
  t.strictSame(await run('select $1 as a, $2::int as b, $3 is null as c', ["'; --", 5, null]), {
    columns: ['a', 'b', 'c'],
    rows: [["'; --", 5, true]],
  })
  for (const sql of [
    'create table x (a int)',
    'set threads = 1',
    "copy (select 1) to '/tmp/x'",
    'checkpoint',
  ])
    t.ok(isServiceError(await run(sql), 'invalid_input'), sql)
})
