import t from 'tap'
import { jsonOf } from '../api/world.ts'
import { makeExport, openExportWorld } from './batch-export-world.ts'

const world = await openExportWorld(t)

t.test('pauses and goes on, each of them once', async (t) => {
  const path = await makeExport(world)
  const paused = await world.send('POST', `${path}pause/`, { name: 'ignored', interval: 'nonsense' })
  t.strictSame([paused.status, paused.text], [200, ''])
  const at = '2024-05-01T12:00:00Z'
  t.match(jsonOf(await world.get(path)), {
    name: 'nowhere',
    paused: true,
    last_paused_at: at,
    last_updated_at: at,
  })
  world.clock.ms += 60_000
  t.equal((await world.get(`${path}pause/`, 'phx_owner', 'POST')).status, 200)
  t.equal(jsonOf(await world.get(path)).last_paused_at, at, 'paused already')
  const resumed = await world.send('POST', `${path}unpause/`, {})
  t.strictSame([resumed.status, resumed.text], [200, ''])
  t.match(jsonOf(await world.get(path)), {
    paused: false,
    last_paused_at: at,
    last_updated_at: '2024-05-01T12:01:00Z',
  })
  t.strictSame(jsonOf(await world.get(`${path}backfills/`)).count, 0)
  const { rows } = await world.postgres.query<{ activity: string }>(
    'select activity from organization_activity order by created_at, activity',
  )
  t.strictSame(
    rows.map(({ activity }) => activity),
    ['created', 'paused', 'unpaused'],
  )
})

t.test('exports what a pause has missed, when asked to', async (t) => {
  world.clock.ms = Date.UTC(2024, 4, 1, 12)
  const path = await makeExport(world)
  await world.send('POST', `${path}unpause/`, { backfill: true })
  t.equal(jsonOf(await world.get(`${path}backfills/`)).count, 0, 'not paused, nothing missed')
  await world.send('POST', `${path}pause/`, {})
  world.clock.ms += 3 * 3_600_000
  t.equal((await world.send('POST', `${path}unpause/`, { backfill: 'perhaps' })).status, 400)
  t.equal((await world.send('POST', `${path}unpause/`, { backfill: true })).status, 200)
  const [backfill] = jsonOf(await world.get(`${path}backfills/`)).results
  t.match(backfill, {
    start_at: '2024-05-01T12:00:00Z',
    end_at: '2024-05-01T15:00:00Z',
    status: 'Starting',
    progress: { total_runs: 3, finished_runs: 0, progress: 0 },
    team: 1,
  })
  t.equal(jsonOf(await world.get(path)).last_updated_at, '2024-05-01T15:00:00Z')
})
