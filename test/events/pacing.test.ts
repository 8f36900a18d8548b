import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { Pacing } from '../../src/events/pacing.ts'
import { Readers, runQuery } from '../../src/events/readers.ts'

const vectors = 60
const restMs = 5

/** Events in 60 vectors, and a clock that passes when readers rest. */
async function open(isWanted: boolean) {
  const state = { nowMs: 0, asked: 0, restMs, isWanted }
  const clock = { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs }
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const writer = await instance.connect()
  await writer.run('create table event as select range as n, range::varchar as text from range(60 * 2048)')
  await writer.run('create view events as select * from event where n % 3 <> 7')
  const givingWay = {
    get isWanted() {
      return state.isWanted
    },
    restMs: () => {
      state.asked++
      state.nowMs += state.restMs
      return state.restMs
    },
  }
  const pacing = new Pacing(writer, givingWay, clock)
  const readers = new Readers(instance, clock, pacing)
  const read = (reader: 'people' | 'exports', condition = 'true', msMax = 30_000) =>
    readers.run(
      (connection) =>
        runQuery(connection, `select count(*) from temp.main.paced_events where ${condition}`, []),
      { reader, msMax, id: 7, memoryBytesMax: 1e12 },
    )
  t.teardown(() => readers.close())
  return { state, readers, read, pacing }
}

t.test('a read rests between vectors, whatever else it asks of the rows', async (t) => {
  const { state, read } = await open(true)
  t.strictSame((await read('exports')).rows, [[String(vectors * 2048)]])
  t.equal(state.asked, vectors)
  t.strictSame((await read('exports', "json_extract_string(text, '/a') = 'nobody'")).rows, [['0']])
  t.equal(state.asked, 2 * vectors)
})

t.test('who begins while events come in is paced, and nobody otherwise', async (t) => {
  const { state, read } = await open(false)
  for (const reader of ['people', 'exports'] as const) {
    state.isWanted = false
    state.asked = 0
    await read(reader)
    t.equal(state.asked, 0)
    state.isWanted = true
    await read(reader)
    t.equal(state.asked, vectors)
  }
})

t.test('rests shorter than it takes to wake up are not taken', async (t) => {
  const { state, read } = await open(true)
  state.restMs = 4
  await read('exports')
  t.equal(state.asked, vectors)
})

t.test('exports have the time for which they rest; people are told why theirs is over', async (t) => {
  const { state, read } = await open(true)
  state.restMs = 20
  t.strictSame((await read('exports', 'true', 500)).rows, [[String(vectors * 2048)]])
  const late = await read('people', 'true', 500).catch((error: unknown) => error)
  t.ok(isServiceError(late, 'reads_overloaded'))
  t.match(late, {
    detail: 'The query was stopped: it took too long (QUERY_TIMEOUT_MS), since events that come in go first.',
  })
})

t.test('what is done beside DuckDB is rested for, too', async (t) => {
  const { state, pacing } = await open(true)
  state.restMs = 0
  t.equal(await pacing.working(async () => 'done'), 'done')
  state.restMs = 30
  const startedMs = performance.now()
  await pacing.working(async () => {})
  t.ok(performance.now() - startedMs >= 29)
})

t.test('a read that rests can be cancelled', async (t) => {
  const { state, readers, read } = await open(true)
  state.restMs = 1_000
  const running = read('exports').catch((error: unknown) => error)
  readers.interrupt(7)
  t.match(await running, { detail: 'The query was stopped: it was cancelled.' })
  t.ok(state.asked < 3)
})
