import t, { type Test } from 'tap'
import type { Answer, EventsTask, EventsTasks, OpenTask, QueryResult } from '../../src/events/messages.ts'
import { EventsThread } from '../../src/events/thread.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { uuidOf } from './make-batch.ts'
import { FakeJournal } from './world.ts'

function openTask(dataDir: string, journal: FakeJournal): OpenTask {
  const rest = { journalDir: '', memoryLimitBytes: 256 * 1024 * 1024, threads: 2, killAt: null }
  return { kind: 'open', dataDir, journal: journal.state(), ...rest }
}

/** A thread over `journal`, opened on an empty folder. */
async function opened(t: Test, journal: FakeJournal) {
  const thread = new EventsThread(systemClock, () => journal)
  const ask = async <K extends keyof EventsTasks>(task: EventsTasks[K][0] & { kind: K }) =>
    (await thread.handle(task as EventsTask)) as Answer<EventsTasks[K][1]> // the thread answers what is asked
  const opening = await ask(openTask(t.testdir(), journal))
  if (!opening.ok) throw new Error(opening.detail)
  t.teardown(() => ask({ kind: 'close' }))
  const query = (sql: string, values: EventsTasks['query'][0]['values'] = []) =>
    ask({ kind: 'query', sql, values, isForExport: false })
  return { ask, query, opening: opening.value }
}

const select = (rows: QueryResult['rows'], columns: string[]) => ({ ok: true, value: { columns, rows } })

t.test('opens, loads, checkpoints and reads', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: [{ uuid: uuidOf(1) }, { uuid: uuidOf(2) }] })
  const { ask, query, opening } = await opened(t, journal)
  const start = { position: 0, index: 0 }
  t.strictSame(opening, {
    offsets: { realtime: start, historical: start },
    counts: { events: 0, duplicates: 0, quarantined: 0 },
    remedies: [],
    reason: null,
    mirrored: { cursor: null, isTendingDue: false },
  })

  t.match(await ask({ kind: 'step', committed: journal.committed }), {
    ok: true,
    value: { outcome: { kind: 'applied', rows: 2 }, walBytes: Number },
  })
  t.match(await ask({ kind: 'checkpoint' }), {
    ok: true,
    value: { offsets: { realtime: { position: journal.committed.realtime, index: 0 } }, walBytes: 0 },
  })
  t.strictSame(
    await query('select count(*) as n, min(event) as e from events where project_id = $1', [1]),
    select([['2', 'viewed']], ['n', 'e']),
  )
})

t.test('answers with a code when something is wrong', async (t) => {
  const journal = new FakeJournal()
  const thread = new EventsThread(systemClock, () => journal)
  t.match(await thread.handle({ kind: 'checkpoint' }), { ok: false, code: 'storage_failed' })
  const { query } = await opened(t, journal)
  t.match(await query('delete from event'), {
    ok: false,
    code: 'invalid_input',
    detail: 'expected one SELECT statement',
  })
  t.match(await query('select 1; select 2'), { ok: false })
  t.match(await query('select * from range(100001)'), { ok: false, code: 'invalid_input' })
  t.match(await query('select no_such_column from events'), { ok: false, code: 'internal' })
  t.strictSame(await query('select 1 as one'), select([[1]], ['one']))
})

t.test('reads while it loads, without seeing half of a transaction', async (t) => {
  const journal = new FakeJournal()
  const rows = Array.from({ length: 4000 }, (_, i) => ({ uuid: uuidOf(i) }))
  for (let i = 0; i < 4; i++) journal.append({ rows })
  const { ask, query } = await opened(t, journal)
  // A connection to read by, which takes its time to be made.
  await query('select 1')

  let isLoading = true
  const loading = ask({ kind: 'step', committed: journal.committed }).finally(() => {
    isLoading = false
  })
  const seen = new Set<unknown>()
  while (isLoading) {
    const answer = await query('select count(*) from events')
    if (answer.ok) seen.add(answer.value.rows[0]?.[0])
  }
  t.match(await loading, { ok: true, value: { outcome: { kind: 'applied', rows: 15_000 } } })
  t.ok(seen.has('0'))
  t.strictSame(
    [...seen].filter((count) => count !== '0' && count !== '15000'),
    [],
  )
})

t.test('ends running reads when it closes', async (t) => {
  const { ask, query } = await opened(t, new FakeJournal())
  const long = query('select count(*) from range(100000000000) where range % 7 = 8')
  t.match(await ask({ kind: 'close' }), { ok: true })
  t.match(await long, { ok: false, code: 'reads_overloaded' })
})

t.test('does not load from a journal that does not fit', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: [{}] })
  const dir = t.testdir()
  const first = new EventsThread(systemClock, () => journal)
  await first.handle(openTask(dir, journal))
  await first.handle({ kind: 'step', committed: journal.committed })
  await first.handle({ kind: 'close' })

  const foreign = { ...openTask(dir, journal), journal: { ...journal.state(), epoch: uuidOf(99) } }
  const second = new EventsThread(systemClock, () => journal)
  t.match(await second.handle(foreign), { ok: false, code: 'lineage_foreign' })
  t.match(await second.handle(openTask(dir, new FakeJournal())), { ok: false, code: 'lineage_foreign' })
  // Neither attempt has kept the file open.
  t.match(await second.handle(openTask(dir, journal)), { ok: true })
  await second.handle({ kind: 'close' })
})
