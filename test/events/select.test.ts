import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { createCopies, fillCopy } from '../../src/events/copied-rows.ts'
import type { EventsTask } from '../../src/events/messages.ts'
import { Readers } from '../../src/events/readers.ts'
import { runSelect, type SelectLimits } from '../../src/events/select.ts'
import { type Copies, type PeoplesQuery, Selects, type SelectThread } from '../../src/events/selects.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { until } from '../support/until.ts'

const endless = 'select count(*) from range(100000000000) where range % 7 = 8'

const instance = await DuckDBInstance.create(':memory:')
await (await instance.connect()).run("set global TimeZone = 'UTC'")
const readers = new Readers(instance, systemClock)
t.teardown(() => readers.close())
let running = 0
const limits: SelectLimits = { msMax: 60_000, memoryBytesMax: 256 * 1024 * 1024 }
/** What the events thread does. */
const thread: SelectThread = {
  async ask(kind, fields) {
    // Each kind comes with its own fields.
    const task = { kind, ...fields } as EventsTask
    return (await handle(task)) as never // and has the answer that EventsTasks says
  },
}

async function handle(task: EventsTask): Promise<unknown> {
  switch (task.kind) {
    case 'select':
      running++
      return await readers
        .run((connection) => runSelect(connection, task), { id: task.id, ...task.limits })
        .finally(() => running--)
    case 'cancel':
      return readers.interrupt(task.id)
    case 'prepare_copies':
      return await readers.hold(task.id, (connection) => createCopies(connection, task.tables))
    case 'fill_copy':
      return await readers.run((connection) => fillCopy(connection, task.projectId, task.page), {
        id: task.id,
      })
    case 'drop_copies':
      return readers.letGo(task.id)
    default:
      throw new Error(task.kind)
  }
}

const selects = new Selects(thread, limits, systemClock)
const ask = (sql: string, more: Partial<PeoplesQuery> = {}) =>
  selects.run({ sql, rowsMax: 10, copies: null, onCancel: () => {}, ...more })
const run = (sql: string, rowsMax = 10, onCancel: (cancel: () => void) => void = () => {}) =>
  ask(sql, { rowsMax, onCancel }).catch((error: unknown) => error)

t.test('answers with names, types and rows as JSON', async (t) => {
  const sql = `select 1 as a, 9007199254740993 as b, 'x"y' as c, null as d, 1.50 as e, true as f, [1, 2] as g,
    timestamptz '2024-05-01 12:00:00.5+02' as h, date '2024-05-01' as i, 5::bigint as j, sum(3) as k,
    'nan'::double as l`
  t.strictSame(await run(sql), {
    columns: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'],
    types: [
      'Int32',
      'Int64',
      'String',
      'Int32',
      'Decimal(3, 2)',
      'Bool',
      'Array(Int32)',
      "DateTime64(6, 'UTC')",
      'Date',
      'Int64',
      'Int128',
      'Float64',
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
  t.match(await answers[2], { code: 'reads_overloaded', detail: 'The query was stopped: it was cancelled.' })
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

t.test('reads copies that nobody else sees and that end with the query', async (t) => {
  const page = (table: 'person' | 'group', columns: readonly string[]) => ({ table, columns })
  const copies = (fill: Copies['fill']): Copies => ({ projectId: 3, tables: ['person', 'group'], fill })
  const sql = `select person.project_id, id::varchar, epoch_us(created_at), is_identified, properties.a.b,
    (select count(*) from copied_group) from copied_person person order by all`
  const uuids = [1, 2].map((last) => `00000000-0000-4000-8000-00000000000${last}`)
  const filled = await ask(sql, {
    copies: copies(async (add) => {
      await add(page('person', [uuids[0]!, '1714564800500000', 't', '{"a":{"b":"x"}}']))
      await add(page('person', [uuids[1]!, '1', 'f', '{}']))
      await add(page('group', []))
    }),
  })
  t.equal(
    filled.rowsText,
    `[[3,"${uuids[0]}",1714564800500000,true,"\\"x\\"",0],[3,"${uuids[1]}",1,false,null,0]]`,
  )
  t.match(await run('select * from copied_person'), { code: 'invalid_input' })
  const fails = async () => {
    throw new Error('cannot read')
  }
  t.match(await ask(sql, { copies: copies(fails) }).catch((error: unknown) => error), {
    message: 'cannot read',
  })
  t.match(await run('select count(*) from copied_person'), { code: 'invalid_input' })
  const both = await Promise.all([1, 2].map(() => ask(sql, { copies: copies(async () => {}) })))
  t.strictSame(
    both.map(({ rowCount }) => rowCount),
    [0, 0],
  )
  let cancel = (): void => {}
  const cancelled = ask(sql, {
    onCancel: (given) => {
      cancel = given
    },
    copies: copies(async (add) => {
      cancel()
      await add(page('person', []))
    }),
  })
  t.match(await cancelled.catch((error: unknown) => error), {
    detail: 'The query was stopped: it was cancelled.',
  })
})

t.test('reading persons counts as time of the query', async (t) => {
  const state = { nowMs: 0 }
  const clock: Clock = { nowMs: () => 0, monotonicMs: () => state.nowMs }
  const timed = new Selects(thread, limits, clock)
  const slow: Copies['fill'] = async (add) => {
    state.nowMs = limits.msMax
    await add({ table: 'group', columns: [] })
  }
  const copies: Copies = { projectId: 1, tables: ['group'], fill: slow }
  const asked = timed.run({ sql: 'select 1', rowsMax: 1, copies, onCancel: () => {} })
  const detail = 'The query was stopped: reading its persons took too long (QUERY_TIMEOUT_MS).'
  await t.rejects(asked, { code: 'reads_overloaded', detail })
})

t.test('stops a query that makes the process grow too much', async (t) => {
  const sorted = 'select max(s) from (select repeat(range::varchar, 200) s from range(20000000) order by s)'
  t.match(await run(sorted), {
    code: 'reads_overloaded',
    detail: 'The query was stopped: it needed more than 256 MiB of memory (QUERY_MEMORY_LIMIT).',
  })
  t.match(await run('select 1'), { rowCount: 1 })
})
