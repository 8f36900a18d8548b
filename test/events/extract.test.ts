import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { type ExtractTask, runExtract } from '../../src/events/extract.ts'
import { openStore } from '../../src/events/store.ts'
import { systemClock } from '../../src/lib/clock.ts'

const dataDir = t.testdir()
const folder = join(dataDir, 'exports', 'run')
await mkdir(folder, { recursive: true })
const store = await openStore({
  dataDir,
  memoryLimitBytes: 256 * 1024 * 1024,
  threads: 1,
  isJournalComplete: true,
  clock: systemClock,
})
t.teardown(() => store.close())

const everyType = `select 'é,"' as t, '{"a": 12345678901234567890, "b":\n1.50}'::json as j,
  timestamptz '2026-01-02 03:04:05.000678+00' as m, uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' as u,
  7::bigint as i, 1.5::decimal(5,2) as d, true as o, null::varchar as n, [1, 2] as l, 'again' as "T"`

function extract(task: Partial<ExtractTask>) {
  const path = join(folder, 'file')
  return runExtract(store.writer, {
    kind: 'extract',
    id: 0,
    sql: everyType,
    values: [],
    path,
    format: { kind: 'jsonl', compression: null },
    ...task,
  })
}

t.test('writes JSON lines with objects and ISO moments', async (t) => {
  const { columns, rowCount, bytes } = await extract({})
  const text = readFileSync(join(folder, 'file'), 'utf8')
  t.equal(
    text,
    '{"t":"é,\\"","j":{"a":12345678901234567890,"b":1.5},"m":"2026-01-02T03:04:05.000678Z",' +
      '"u":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","i":7,"d":1.5,"o":true,"n":null,"l":[1,2],"T_1":"again"}\n',
  )
  t.strictSame([rowCount, bytes], [1, Buffer.byteLength(text)])
  t.strictSame(
    columns.map(({ name, type }) => `${name} ${type}`),
    [
      't text',
      'j json',
      'm timestamp',
      'u uuid',
      'i bigint',
      'd double',
      'o boolean',
      'n text',
      'l json',
      'T_1 text',
    ],
  )
})

t.test('writes CSV with a header, JSON as it is stored, and NULL apart from empty text', async (t) => {
  const sql = `select '{"b":\n1.50}'::json as j, null::varchar as n, '' as e, timestamptz '2026-01-02' as m`
  await extract({ sql, format: { kind: 'csv', compression: null } })
  t.equal(
    readFileSync(join(folder, 'file'), 'utf8'),
    'j,n,e,m\n"{""b"":\n1.50}",,"",2026-01-02T00:00:00.000000Z\n',
  )
})

t.test('writes Parquet of plain types in every compression', async (t) => {
  const reading = await DuckDBInstance.create(':memory:')
  const connection = await reading.connect()
  for (const compression of [null, 'zstd', 'lz4', 'snappy', 'gzip', 'brotli']) {
    const path = join(folder, `${compression}.parquet`)
    t.equal((await extract({ path, format: { kind: 'parquet', compression } })).rowCount, 1)
    const schema = await connection.runAndReadAll(`describe select * from '${path}'`)
    t.strictSame(
      schema.getRowsJson().map((row) => row[1]),
      [
        'VARCHAR',
        'VARCHAR',
        'TIMESTAMP WITH TIME ZONE',
        'VARCHAR',
        'BIGINT',
        'DOUBLE',
        'BOOLEAN',
        'VARCHAR',
        'VARCHAR',
        'VARCHAR',
      ],
    )
    const rows = await connection.runAndReadAll(`select j, epoch_us(m), l from '${path}'`)
    t.strictSame(rows.getRowsJson(), [
      ['{"a": 12345678901234567890, "b":\n1.50}', '1767323045000678', '[1,2]'],
    ])
  }
  connection.closeSync()
})

t.test('takes parameters, and writes nowhere but below exports', async (t) => {
  const sql = 'select i from range(10) numbers (i) where i >= $1::bigint'
  t.equal((await extract({ sql, values: ['7'] })).rowCount, 3)
  for (const path of [join(dataDir, 'file'), join(dataDir, 'exports', '..', 'file'), '/tmp/file'])
    await t.rejects(extract({ path }), /Permission Error/, path)
  await t.rejects(extract({ sql: 'select nothing' }), { code: 'invalid_input' })
})
