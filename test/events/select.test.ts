import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { Readers } from '../../src/events/readers.ts'
import { runSelect } from '../../src/events/select.ts'
import { Selects } from '../../src/events/selects.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { until } from '../support/until.ts'

const endless = 'select count(*) from range(100000000000) where range % 7 = 8'

const instance = await DuckDBInstance.create(':memory:')
await (await instance.connect()).run("set global TimeZone = 'UTC'")
const readers = new Readers(instance, systemClock)
t.teardown(() => readers.close())
let running = 0
const selects = new Selects({
  select: (task) => {
    running++
    return readers
      .run((connection) => runSelect(connection, { kind: 'select', ...task }), { id: task.id })
      .finally(() => running--)
  },
  cancel: async (id) => readers.interrupt(id),
})
const run = (sql: string, rowsMax = 10, onCancel: (cancel: () => void) => void = () => {}) =>
  selects.run(sql, rowsMax, onCancel).catch((error: unknown) => error)

t.test('answers with names, types and rows as JSON', async (t) => {
  const sql = `select 1 as a, 9007199254740993 as b, 'x"y' as c, null as d, 1.50 as e, true as f, [1, 2] as g,
    timestamptz '2024-05-01 12:00:00.5+02' as h, date '2024-05-01' as i, 5::bigint as j, sum(3) as k,
    'nan'::double as l`
  t.strictSame(await run(sql), {
    columns: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'],
    types: [
      'INTEGER',
      'BIGINT',
      'VARCHAR',
      'INTEGER',
      'DECIMAL(3,2)',
      'BOOLEAN',
      'INTEGER[]',
      'TIMESTAMP WITH TIME ZONE',
      'DATE',
      'BIGINT',
      'HUGEINT',
      'DOUBLE',
    ],
    rowsText:
      '[[1,"9007199254740993","x\\"y",null,1.5,true,[1,2],"2024-05-01T10:00:00.5Z","2024-05-01",5,3,"NaN"]]',
    rowCount: 1,
    hasMore: false,
  })
})

t.test('reads no more rows than asked for', async (t) => {
  t.match(await run('select range from range(100000)', 3), {
    rowsText: '[[0],[1],[2]]',
    rowCount: 3,
    hasMore: true,
  })
  t.match(await run('select range from range(100000)', 5000), { rowCount: 5000, hasMore: true })
  t.match(await run('select range from range(3)', 3), { rowCount: 3, hasMore: false })
  t.match(await run('select range from range(2)', 3), { rowCount: 2, hasMore: false })
})

t.test('says what is wrong with a query', async (t) => {
  t.match(await run('select nothing'), { code: 'invalid_input', detail: /^Binder Error: .*nothing/ })
  t.match(await run("select 'x'::integer"), { code: 'invalid_input', detail: /^Conversion Error/ })
  t.match(await run('set threads = 1'), { code: 'invalid_input', detail: 'expected one SELECT statement' })
  t.match(await run("select repeat('x', 40000000)"), {
    code: 'invalid_input',
    detail: 'The answer is larger than 32 MiB: select less, or fewer rows.',
  })
})

t.test('ends a query that nobody waits for, also one that still waits itself', async (t) => {
  const cancels: (() => void)[] = []
  const answers = [endless, endless, endless].map((sql) => run(sql, 1, (cancel) => cancels.push(cancel)))
  await until(() => running === 2)
  cancels[2]!()
  cancels[0]!()
  t.ok(isServiceError(await answers[0], 'reads_overloaded'))
  t.match(await answers[2], { code: 'reads_overloaded', detail: 'The query was cancelled.' })
  cancels[1]!()
  t.ok(isServiceError(await answers[1], 'reads_overloaded'))
  t.match(await run('select 1'), { rowsText: '[[1]]' })
})

t.test('refuses when the line is full', async (t) => {
  const cancels: (() => void)[] = []
  const answers = Array.from({ length: 18 }, () => run(endless, 1, (cancel) => cancels.push(cancel)))
  t.match(await run('select 1'), { code: 'reads_overloaded', detail: /^Too many queries are waiting/ })
  await until(() => running === 2)
  for (const cancel of cancels.reverse()) cancel()
  await Promise.all(answers)
})
