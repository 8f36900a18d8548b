import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t, { type Test } from 'tap'
import { brokenArrived, judgeArrived } from '../../bench/export-arrived.ts'

/** A store of ten events, of which six lie before the boundary, and its export in two files, after `sql` on either. */
async function judged(t: Test, sql: string): Promise<string[]> {
  const dataDir = t.testdir()
  const files = t.testdir({ files: {} })
  const instance = await DuckDBInstance.create(join(dataDir, 'events.duckdb'))
  const connection = await instance.connect()
  await connection.run(`set TimeZone = 'UTC';
    create table event (uuid uuid, event varchar, distinct_id varchar, timestamp timestamptz, elements_chain varchar,
      properties json, lane utinyint, position bigint, index uinteger);
    insert into event select ('018f3c80-0000-7000-8000-00000000000' || i)::uuid, 'e', 'd' || i,
      make_timestamptz(i * 1000000), '', '{"n":' || i || '}', i // 5, i % 5 * 10, 3 from range(10) as t (i);
    create table exported as select * from event where position < 20 or (position = 20 and index < 4);
    ${sql};
    copy (from exported where uuid::varchar < '018f3c80-0000-7000-8000-000000000005') to '${files}/0.parquet';
    copy (from exported where uuid::varchar >= '018f3c80-0000-7000-8000-000000000005') to '${files}/1.parquet'`)
  connection.closeSync()
  instance.closeSync()
  const keys = readdirSync(files).filter((name) => name.endsWith('.parquet'))
  const verdict = await judgeArrived(
    { dataDir, folder: files },
    {
      keys: async () => [...keys.map((key) => `all/${key}.zst`), 'other/0.parquet', 'all/list.json'],
      object: async (key) => readFileSync(join(files, key.slice('all/'.length, -'.zst'.length))),
    },
    { prefix: 'all', stretchEnd: '20.4 20.4' },
  )
  t.equal(verdict.expected, 6)
  return brokenArrived(verdict)
}

const sixth = `uuid = '018f3c80-0000-7000-8000-000000000006'`

t.test('an export of what was stored keeps every promise', async (t) => {
  t.strictSame(await judged(t, ''), [])
})

t.test('what comes to events when they are exported is no change', async (t) => {
  const properties = '{"$groups":{"company":"acme"},"n":1.50,"$group_0":'
  const sql = (table: string, group: string) =>
    `update ${table} set properties = '${properties}${group}}' where ${sixth}`
  t.strictSame(await judged(t, `${sql('event', '"as sent"')}; ${sql('exported', '"acme"')}`), [])
})

const faults = [
  ['a missing event', `delete from exported where ${sixth}`, '1 stored events were not exported'],
  [
    'a doubled event',
    `insert into exported from event where ${sixth}`,
    '1 events were exported more than once',
  ],
  [
    'a changed event',
    `update exported set properties = '{}' where ${sixth}`,
    '1 events were exported with other contents than are stored',
  ],
  [
    'an event of the next run',
    'insert into exported from event where lane = 1 and position = 30',
    '1 events were exported that are not stored before the boundary',
  ],
] as const

for (const [name, sql, line] of faults)
  t.test(`${name} is found`, async (t) => {
    t.strictSame(await judged(t, sql), [line])
  })
