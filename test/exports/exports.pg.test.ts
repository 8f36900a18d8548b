import t from 'tap'
import type { Session } from '../../src/postgres/pool.ts'
import { plainRows, uuidOf } from '../events/make-batch.ts'
import { until } from '../support/until.ts'
import { openExportsWorld } from './world.ts'

const uuids = (...numbers: number[]): string[] => numbers.map(uuidOf)

t.test(
  'an event is in the run of the interval in which it was stored, once, whenever it happened',
  async (t) => {
    const world = await openExportsWorld(t)
    await world.ingest({ rows: plainRows(1, 2) }) // 12:00, the hour before the export's
    world.at(20)
    await world.makeExport()
    world.at(59)
    await world.ingest({ rows: plainRows(3, 4) })
    world.at(60)
    await world.ingest({ rows: plainRows(7, 1) }) // stored at the border: the next hour's
    // Retries of both hours, and one more event.
    await world.ingest(
      { rows: [...plainRows(3, 1), ...plainRows(7, 1), ...plainRows(8, 1)] },
      'realtime',
      [0, 1],
    )
    await world.ingest({ projectId: 3, rows: plainRows(50, 1) })
    const first = await world.settle()
    t.strictSame(
      first.map((run) => [run.status, run.records_completed, run.records_total_count, run.cursor]),
      [['Completed', 6, 6, `realtime ${world.journal.records.realtime[2]!.position}.0`]],
    )
    t.strictSame(world.recorder.column('uuid'), uuids(1, 2, 3, 4, 5, 6))
    world.at(100)
    // Late: it happened years ago. Historical: in the other lane.
    await world.ingest({ rows: [{ uuid: uuidOf(9), timestampMicros: 1 }] })
    await world.ingest({ historical: true, rows: plainRows(10, 2) }, 'historical')
    world.at(60 + 65)
    await world.ingest({ rows: plainRows(12, 1) })
    await world.settle()
    t.strictSame(world.recorder.columnOf('14:00', 'uuid'), uuids(7, 8, 9, 10, 11))
    world.at(180)
    await world.settle()
    t.strictSame(world.recorder.columnOf('15:00', 'uuid'), uuids(12))
    t.strictSame(world.recorder.finished, [
      '2024-05-01T12:00–2024-05-01T13:00: 0=3 1=3',
      '2024-05-01T13:00–2024-05-01T14:00: 0=3 1=2',
      '2024-05-01T14:00–2024-05-01T15:00: 0=1',
    ])
  },
)

t.test('intervals that end while the server is down are exported when it is back', async (t) => {
  const world = await openExportsWorld(t)
  await world.makeExport({ interval: 'every 5 minutes' })
  await world.ingest({ rows: plainRows(1, 1) })
  await world.exports.close()
  world.at(7)
  await world.ingest({ rows: plainRows(2, 1) })
  world.at(15)
  await world.restart()
  await world.settle()
  t.strictSame(await world.statuses(), ['Completed', 'Completed', 'Completed'])
  t.strictSame([...world.recorder.files.keys()].length, 2)
  t.strictSame(world.recorder.column('uuid'), uuids(1, 2))
})

t.test('a run knows of another of its interval that has ended while it was looked up', async (t) => {
  let isHeld = false
  const world = await openExportsWorld(t, {}, (postgres) => {
    const query: Session['query'] = async (sql, params) => {
      const result = await postgres.query<never>(sql, params)
      const [row] = result.rows as readonly {
        readonly backfill_id?: string
        readonly has_forerunner?: boolean
      }[]
      if (row?.has_forerunner === undefined || row.backfill_id === null || isHeld) return result
      isHeld = true
      await until(async () => (await world.statuses()).includes('Completed'))
      return result
    }
    return { ...postgres, query }
  })
  world.recorder.isTable = true
  const id = await world.makeExport({ end_at: '2024-05-01T14:00:00Z' })
  await world.ingest({ rows: plainRows(1, 7) })
  world.at(60)
  await world.backfill(id, '2024-05-01T12:00:00Z', '2024-05-01T13:00:00Z')
  await world.settle()
  t.strictSame(await world.statuses(), ['Completed', 'Completed'])
  t.ok(isHeld)
  t.strictSame(world.recorder.column('uuid').sort(), uuids(1, 2, 3, 4, 5, 6, 7))
})

t.test('what is closed while it opens listens to nothing afterwards', async (t) => {
  const world = await openExportsWorld(t)
  await world.exports.close()
  let open = 0
  const { listen } = world.postgres
  const counted: typeof listen = (channel, onNotify) => {
    const listening = listen(channel, onNotify)
    open++
    return {
      close: async () => {
        await listening.close()
        open--
      },
    }
  }
  Object.assign(world.postgres, { listen: counted })
  await world.restart()
  await world.exports.close()
  t.equal(open, 0)
})
