import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { Readers } from '../../src/events/readers.ts'
import { runSelectParquet } from '../../src/events/select-parquet.ts'
import { openStore } from '../../src/events/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { until } from '../support/until.ts'

const dataDir = t.testdir()
const folder = join(dataDir, 'queries')
// As a process that was killed leaves it.
mkdirSync(folder)
writeFileSync(join(folder, '7.parquet'), 'PAR1')
const store = await openStore({
  dataDir,
  memoryLimitBytes: 512 * 1024 * 1024,
  threads: 1,
  isJournalComplete: true,
  clock: systemClock,
})
const readers = new Readers(store.instance, systemClock)
t.teardown(async () => {
  await readers.close()
  store.close()
})
const reading = await (await DuckDBInstance.create(':memory:')).connect()
await reading.run("set TimeZone = 'UTC'")

const path = join(folder, '0.parquet')
const read = (sql: string, id: number | null = null, msMax = 30_000) =>
  readers.run((connection) => runSelectParquet(connection, sql, path), { id, msMax })
const failed = (sql: string, msMax = 30_000) => read(sql, 0, msMax).catch((error: unknown) => error)

/** What DuckDB finds in the file of `sql`: the types of its columns, and its rows as text. */
async function found(sql: string) {
  const file = join(dataDir, 'read.parquet')
  writeFileSync(file, await read(sql))
  const types = (await reading.runAndReadAll(`describe select * from '${file}'`)).getRows()
  const rows = await reading.runAndReadAll(`select columns(*)::varchar from '${file}'`)
  return { types: types.map(([name, type]) => `${name} ${type}`), rows: rows.getRows() }
}

const long = '123456789012345678901234567890'
const kinds: [sql: string, type: string, text: string][] = [
  ["'é \" '' \\n,'", 'VARCHAR', 'é " \' \\n,'],
  ['true', 'BOOLEAN', 'true'],
  ['(-128)::tinyint', 'TINYINT', '-128'],
  ['(-32768)::smallint', 'SMALLINT', '-32768'],
  ['7::integer', 'INTEGER', '7'],
  ['9223372036854775807::bigint', 'BIGINT', '9223372036854775807'],
  ['18446744073709551615::ubigint', 'UBIGINT', '18446744073709551615'],
  [`${long}::hugeint`, 'DECIMAL(38,0)', long],
  ['1.50::decimal(5, 2)', 'DECIMAL(5,2)', '1.50'],
  [`${long}.12345678::decimal(38, 8)`, 'DECIMAL(38,8)', `${long}.12345678`],
  ['1.5::float', 'FLOAT', '1.5'],
  ['0.1::double', 'DOUBLE', '0.1'],
  ["'nan'::double", 'DOUBLE', 'nan'],
  ["date '1969-12-31'", 'DATE', '1969-12-31'],
  ["time '23:59:59.000001'", 'TIME', '23:59:59.000001'],
  ["timestamp '2024-05-01 12:00:00.000678'", 'TIMESTAMP', '2024-05-01 12:00:00.000678'],
  [
    "timestamptz '2024-05-01 12:00:00.000678+02'",
    'TIMESTAMP WITH TIME ZONE',
    '2024-05-01 10:00:00.000678+00',
  ],
  ["interval '-1 month 2.000001 seconds'", 'VARCHAR', '-1 month 00:00:02.000001'],
  ["uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", 'UUID', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  [`'{"a": [1.50, {"b":\n${long}}]}'::json`, 'JSON', `{"a": [1.50, {"b":\n${long}}]}`],
  ["['a', null, 'b,c']", 'VARCHAR[]', "[a, NULL, 'b,c']"],
  ['[[1], null]', 'INTEGER[][]', '[[1], NULL]'],
  ["{'a': 1, 'b': {'c': null::json}}", 'STRUCT(a INTEGER, b STRUCT(c JSON))', "{'a': 1, 'b': {'c': NULL}}"],
  ["['{}'::json]", 'JSON[]', '[{}]'],
  [`{'a': [${long}::hugeint]}`, 'JSON', `{"a":[${long}]}`],
  ["[interval '-1 day']", 'JSON', '["-1 day"]'],
]

t.test('each column keeps its type, its values and its NULLs', async (t) => {
  t.notOk(existsSync(join(folder, '7.parquet')))
  const all = kinds.map(([sql], index) => `${sql} as v${index}`).join(', ')
  const none = kinds.map(() => 'null').join(', ')
  const { types, rows } = await found(`select ${all} union all select ${none}`)
  t.strictSame(
    types,
    kinds.map(([, type], index) => `v${index} ${type}`),
  )
  t.strictSame(rows, [kinds.map(([, , text]) => text), kinds.map(() => null)])
  t.strictSame(readdirSync(folder), [])
})

t.test('a file without rows has its columns, and names that come twice are told apart', async (t) => {
  const sql = `select 1::bigint as a, true as "A", null as "b '""), (" from range(0)`
  t.strictSame(await found(sql), { types: ['a BIGINT', 'A_1 BOOLEAN', `b '"), ( INTEGER`], rows: [] })
})

t.test('has all rows, in their order', async (t) => {
  const { rows } = await found('select range as i from range(120000) order by i desc')
  t.equal(rows.length, 120_000)
  t.ok(rows.every(([value], index) => value === String(119_999 - index)))
})

t.test('an answer that is too large, too slow, cancelled or wrong leaves nothing behind', async (t) => {
  const tooLarge = {
    code: 'invalid_input',
    detail: 'The answer is larger than 32 MiB: select less, or fewer rows.',
  }
  t.match(await failed('select gen_random_uuid() from range(100000000000)'), tooLarge, 'while it is written')
  t.strictSame(readdirSync(folder), [])
  const late = { code: 'reads_overloaded', detail: 'The query was stopped: it ran longer than 0.2 s.' }
  t.match(await failed('select range from range(100000000000)', 200), late)
  t.strictSame(readdirSync(folder), [])
  const cancelled = failed('select range // 100000 from range(100000000000)')
  await until(() => existsSync(path))
  readers.interrupt(0)
  t.match(await cancelled, { code: 'reads_overloaded', detail: 'The query was stopped: it was cancelled.' })
  t.match(await failed('select nothing'), { code: 'invalid_input', detail: /^Binder Error: .*nothing/ })
  t.match(await failed("select 'x'::integer"), { code: 'invalid_input', detail: /^Conversion Error/ })
  t.match(await failed(`select 170141183460469231731687303715884105727`), { code: 'invalid_input' })
  t.strictSame(readdirSync(folder), [])
})

t.test('runs nothing but one SELECT', async (t) => {
  const elsewhere = join(dataDir, 'exports', 'x')
  for (const sql of [
    `copy (select 1) to '${elsewhere}'`,
    `select 1; copy (select 1) to '${elsewhere}'`,
    `select 1) to '${elsewhere}' (format csv); --`,
    `select 1) as x (c0)) to '${elsewhere}' (format csv) --`,
    'set threads = 1',
    'insert into event select * from event',
    "select * from read_text('/etc/passwd')",
  ]) {
    t.ok((await failed(sql)) instanceof Error, sql)
  }
  t.notOk(existsSync(elsewhere))
  t.strictSame(readdirSync(folder), [])
  t.strictSame((await found('select 1 as a')).rows, [['1']])
})
