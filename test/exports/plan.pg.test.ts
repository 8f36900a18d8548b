import t from 'tap'
import { planRuns } from '../../src/exports/plan.ts'
import { plainRows, uuidOf } from '../events/make-batch.ts'
import { openExportsWorld, type RunRow } from './world.ts'

const uuids = (...numbers: number[]): string[] => numbers.map(uuidOf)
const spanOf = (run: RunRow): string =>
  `${run.data_interval_start?.slice(5, 16) ?? ''}–${run.data_interval_end.slice(5, 16)}`

t.test('what passes while an export is paused is not exported, unless unpausing asks for it', async (t) => {
  for (const isBackfilling of [false, true]) {
    const world = await openExportsWorld(t)
    const id = await world.makeExport()
    const ingestAt = async (minute: number, n: number): Promise<void> => {
      world.at(minute)
      await world.ingest({ rows: plainRows(n, 1) })
    }
    await ingestAt(10, 1)
    world.at(60)
    await world.settle()
    await ingestAt(70, 2)
    await world.postgres.query(
      `update batch_export set paused = true, last_paused_at = '2024-05-01T13:20Z',
         last_updated_at = '2024-05-01T13:20Z'`,
    )
    await ingestAt(130, 3)
    await ingestAt(190, 4)
    await world.settle()
    t.equal((await world.runs()).length, 1)
    world.at(200)
    await world.postgres.query(
      `update batch_export set paused = false, last_updated_at = '2024-05-01T15:20Z'`,
    )
    if (isBackfilling) await world.backfill(id, '2024-05-01T13:20:00Z', '2024-05-01T15:20:00Z')
    await ingestAt(210, 5)
    world.at(240)
    const runs = await world.settle()
    t.strictSame(
      runs.map(spanOf),
      isBackfilling
        ? [
            '05-01T12:00–05-01T13:00',
            '05-01T13:00–05-01T14:00',
            '05-01T14:00–05-01T15:00',
            '05-01T15:00–05-01T16:00',
          ]
        : ['05-01T12:00–05-01T13:00', '05-01T15:00–05-01T16:00'],
    )
    const exported = world.recorder.column('uuid').sort()
    t.strictSame(exported, isBackfilling ? uuids(1, 2, 3, 4, 5) : uuids(1, 4, 5))
  }
})

t.test(
  'an interval that has ended is exported although nobody had looked when the export was paused',
  async (t) => {
    const world = await openExportsWorld(t)
    await world.makeExport()
    const setPaused = (paused: boolean) =>
      world.postgres.query('update batch_export set paused = $1, last_updated_at = to_timestamp($2)', [
        paused,
        world.nowMs / 1000,
      ])
    await world.ingest({ rows: plainRows(1, 1) })
    await world.exports.close()
    world.at(61)
    await setPaused(true)
    world.at(62)
    await setPaused(false)
    await world.restart()
    const spans = ['05-01T12:00–05-01T13:00', '05-01T13:00–05-01T14:00']
    t.strictSame((await world.settle()).map(spanOf), spans.slice(0, 1))
    await world.ingest({ rows: plainRows(2, 1) })
    await world.exports.close()
    world.at(121)
    await setPaused(true)
    world.at(190)
    await world.ingest({ rows: plainRows(3, 1) })
    await world.restart()
    t.strictSame((await world.settle()).map(spanOf), spans)
    t.strictSame(world.recorder.column('uuid'), uuids(1, 2))
    await setPaused(false)
    world.at(240)
    t.strictSame((await world.settle()).map(spanOf), [...spans, '05-01T15:00–05-01T16:00'])
  },
)

t.test('a backfill exports whole intervals again, what was stored in them, and ends', async (t) => {
  const world = await openExportsWorld(t)
  for (const [minute, n] of [
    [5, 1],
    [65, 2],
    [125, 3],
    [185, 4],
  ] as const) {
    world.at(minute)
    await world.ingest({ rows: plainRows(n, 1) })
  }
  const id = await world.makeExport({ start_at: '2030-01-01T00:00:00Z' })
  await world.backfill(id, '2024-05-01T12:30:00Z', '2024-05-01T14:30:00Z')
  t.strictSame((await world.settle()).map(spanOf), [
    '05-01T12:00–05-01T13:00',
    '05-01T13:00–05-01T14:00',
    '05-01T14:00–05-01T15:00',
  ])
  t.strictSame(world.recorder.column('uuid'), uuids(1, 2, 3))
  const { rows } = await world.postgres.query('select status, total_runs from batch_export_backfill')
  t.strictSame(rows, [{ status: 'Completed', total_runs: 3 }])
  world.recorder.files.clear()
  await world.backfill(id, null, '2024-05-01T14:30:00Z')
  t.strictSame((await world.settle()).map(spanOf).at(-2), '–05-01T14:30')
  t.strictSame(world.recorder.column('uuid'), uuids(1, 2, 3))
  world.recorder.files.clear()
  // Without an end: up to the last interval that has ended.
  await world.backfill(id, '2024-05-01T13:00:00Z', null)
  await world.settle()
  t.strictSame(world.recorder.column('uuid'), uuids(2, 3))
})

t.test('a backfill of an interval that has not ended has nothing to do, and says so', async (t) => {
  const world = await openExportsWorld(t)
  const id = await world.makeExport()
  world.at(70)
  const backfill = await world.backfill(id, '2024-05-01T13:05:00Z', '2024-05-01T13:06:00Z')
  await world.postgres.query('update batch_export_backfill set total_runs = 1')
  await world.settle()
  const { rows } = await world.postgres.query('select id, status, total_runs from batch_export_backfill')
  t.match(rows, [{ id: backfill, status: 'Completed', total_runs: 0 }])
})

t.test('a backfill ends with the first interval that cannot be exported', async (t) => {
  const world = await openExportsWorld(t)
  await world.ingest({ rows: plainRows(1, 1) })
  const id = await world.makeExport({
    start_at: '2030-01-01T00:00:00Z',
    filters: [{ key: 'a', operator: 'unheard of' }],
  })
  world.at(180)
  await world.backfill(id, '2024-05-01T12:00:00Z', '2024-05-01T15:00:00Z')
  const [run, ...rest] = await world.settle()
  t.match(run, { status: 'Failed', latest_error: /^The filters of this export cannot be used/ })
  t.strictSame(rest, [])
  const { rows } = await world.postgres.query('select status from batch_export_backfill')
  t.strictSame(rows, [{ status: 'Failed' }])
})

t.test('an interval that is made longer exports nothing twice', async (t) => {
  const world = await openExportsWorld(t)
  await world.makeExport()
  await world.ingest({ rows: plainRows(1, 1) })
  world.at(60)
  await world.settle()
  await world.postgres.query(`update batch_export set interval = 'day'`)
  await world.ingest({ rows: plainRows(2, 1) })
  world.at(24 * 60)
  await world.settle()
  t.strictSame(world.recorder.column('uuid'), uuids(1, 2))
  t.strictSame(world.recorder.columnOf('2024-05-02T00:00', 'uuid'), uuids(2))
})

t.test('what is due is left for later when the server ends', async (t) => {
  const world = await openExportsWorld(t)
  const id = await world.makeExport()
  world.at(180)
  await world.backfill(id, '2024-05-01T12:00:00Z', '2024-05-01T15:00:00Z')
  const store = { query: () => Promise.reject(new Error('nobody is asked')) }
  t.equal(await planRuns({ postgres: world.postgres, store }, world.nowMs, AbortSignal.abort()), 0)
  t.strictSame(await world.runs(), [])
  t.not((await world.settle()).length, 0)
})
