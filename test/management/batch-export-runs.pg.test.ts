import t from 'tap'
import { jsonOf } from '../api/world.ts'
import { makeExport, noOp, openExportWorld } from './batch-export-world.ts'

const world = await openExportWorld(t)

/** Adds runs as whoever runs exports does, one a second; returns their ids. */
async function addRuns(path: string, statuses: readonly string[]): Promise<string[]> {
  const { rows } = await world.postgres.query<{ id: string }>(
    `insert into batch_export_run (id, project_id, batch_export_id, status, records_completed, records_total_count,
       data_interval_start, data_interval_end, created_at, last_updated_at)
     select gen_random_uuid(), 1, $1, status, 3000000000, 7, '2024-05-01T10:00:00Z', '2024-05-01T11:00:00Z',
       '2024-05-01T11:00:00Z'::timestamptz + make_interval(secs => number), '2024-05-01T11:00:00Z'
     from unnest($2::text[]) with ordinality as given(status, number) returning id`,
    [path.split('/').at(-2), statuses],
  )
  return rows.map(({ id }) => id)
}

/** An export of a test's own. */
async function open() {
  const path = await makeExport(world)
  const post = (below: string, body: object = {}) => world.send('POST', path + below, body)
  return { path, post }
}

t.test('shows runs newest first, counts within 32 bits, and the last ten with the export', async (t) => {
  const { path } = await open()
  const ids = await addRuns(
    path,
    Array.from({ length: 12 }, () => 'Completed'),
  )
  const page = jsonOf(await world.get(`${path}runs/?limit=2`))
  t.equal(page.count, 12)
  t.strictSame(page.results[0], {
    id: ids[11],
    status: 'Completed',
    records_completed: 2_147_483_647,
    latest_error: null,
    data_interval_start: '2024-05-01T10:00:00Z',
    data_interval_end: '2024-05-01T11:00:00Z',
    cursor: null,
    created_at: '2024-05-01T11:00:12Z',
    finished_at: null,
    last_updated_at: '2024-05-01T11:00:00Z',
    records_total_count: 7,
    batch_export: path.split('/').at(-2),
  })
  t.strictSame(jsonOf(await world.get(`${path}runs/${ids[11]}/`)), page.results[0])
  const latest = jsonOf(await world.get(path)).latest_runs
  t.strictSame(
    latest.map((run: { id: string }) => run.id),
    ids.slice(2).reverse(),
  )
  t.equal((await world.get(`${path}runs/x/`)).status, 404)
  const other = await makeExport(world)
  t.equal((await world.get(`${other}runs/${ids[0]}/`)).status, 404)
})

t.test('a run that has counted nothing yet shows no count, by itself and with its export', async (t) => {
  const { path } = await open()
  const [id] = await addRuns(path, ['Starting'])
  await world.postgres.query(
    'update batch_export_run set records_completed = null, records_total_count = null where id = $1',
    [id],
  )
  const none = { id, records_completed: null, records_total_count: null }
  t.match(jsonOf(await world.get(`${path}runs/${id}/`)), none)
  t.match(jsonOf(await world.get(path)).latest_runs, [none])
})

t.test('cancels what has not ended', async (t) => {
  const { path, post } = await open()
  const statuses = [
    'Starting',
    'Running',
    'Completed',
    'Cancelled',
    'ContinuedAsNew',
    'Failed',
    'FailedRetryable',
    'FailedBilling',
    'Terminated',
    'TimedOut',
  ]
  const ids = await addRuns(path, statuses)
  for (const [index, status] of statuses.entries()) {
    const reply = await post(`runs/${ids[index]}/cancel/`)
    if (index < 2) t.strictSame([reply.status, jsonOf(reply)], [200, { cancelled: true }])
    else
      t.match(jsonOf(reply), {
        code: 'invalid_input',
        detail: `Cannot cancel a run that is in '${status}' status`,
      })
  }
  t.match(jsonOf(await world.get(`${path}runs/${ids[1]}/`)), {
    status: 'Cancelled',
    finished_at: '2024-05-01T12:00:00Z',
  })
})

t.test('runs an interval once more as a backfill', async (t) => {
  const { path, post } = await open()
  const [id] = await addRuns(path, ['Failed'])
  const { backfill_id } = jsonOf(await post(`runs/${id}/retry/`))
  const [backfill] = jsonOf(await world.get(`${path}backfills/`)).results
  t.match(backfill, {
    id: backfill_id,
    start_at: '2024-05-01T10:00:00Z',
    end_at: '2024-05-01T11:00:00Z',
    status: 'Starting',
    progress: { total_runs: 1, finished_runs: 0, progress: 0 },
  })
})

t.test('starts backfills, under both names', async (t) => {
  const { path, post } = await open()
  const range = { start_at: '2024-05-01T12:00:00Z', end_at: '2024-05-01T13:00:00Z' }
  const old = await post('backfill/', range)
  t.strictSame([old.status, old.text], [200, ''])
  const reply = await post('backfills/', { start_at: '2020-01-01T00:00:00Z', end_at: null })
  t.equal(reply.status, 200)
  const { results } = jsonOf(await world.get(`${path}backfills/`))
  const newer = results.find((one: { id: string }) => one.id === jsonOf(reply).backfill_id)
  t.strictSame(newer, {
    id: newer.id,
    progress: null,
    // An interval has what was stored in it, and not what happened: these events came before noon and are of later.
    start_at: '2024-05-01T11:00:00Z',
    end_at: null,
    status: 'Starting',
    created_at: '2024-05-01T12:00:00Z',
    finished_at: null,
    last_updated_at: '2024-05-01T12:00:00Z',
    team: 1,
    batch_export: path.split('/').at(-2),
  })
  t.equal(results.length, 2)
})

t.test('refuses backfills of no time and no data', async (t) => {
  const { path, post } = await open()
  for (const [range, detail] of [
    [{ start_at: 'not a date' }, 'Input not a date is not a valid ISO formatted datetime.'],
    [{ start_at: '2021-01-01T00:00:00' }, 'Input 2021-01-01T00:00:00 is naive.'],
    [
      { start_at: '2021-01-01T00:00:00Z', end_at: '2021-01-01T00:00:00Z' },
      "The initial backfill datetime 'start_at' happens after 'end_at'",
    ],
    [
      { start_at: '2021-01-01T00:00:00Z', end_at: '2021-01-01T01:00:00Z' },
      'The provided backfill date range contains no data. ' +
        'The earliest possible backfill start date is 2024-05-01T11:00:00Z',
    ],
  ] as const) {
    for (const below of ['backfill/', 'backfills/']) {
      const reply = await post(below, range)
      t.equal(reply.status, 400)
      t.match(jsonOf(reply), { code: 'invalid_input', attr: null, detail })
    }
  }
  const persons = await makeExport(world, {
    name: 'p',
    model: 'persons',
    destination: { type: 'NoOp' },
    interval: 'day',
  })
  const reply = await world.send('POST', `${persons}backfills/`, { start_at: null, end_at: null })
  t.equal(jsonOf(reply).detail, 'There is no data to backfill for this model.')
  t.equal(jsonOf(await world.get(`${path}backfills/`)).count, 0)
  t.equal(jsonOf(await world.get(`${persons}backfills/`)).count, 0)
})

t.test('knows where the data of each model begins', async (t) => {
  await world.postgres.query(
    `insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes, changed_at)
     values (1, gen_random_uuid(), '2020-01-01T00:00:00Z', false, 0, '{}', 2, '2024-04-30T10:00:00Z')`,
  )
  for (const [model, first] of [
    ['events', '2024-05-01T11:00:00Z'],
    ['sessions', '2024-05-01T11:00:00Z'],
    ['persons', '2024-04-30T10:00:00Z'],
  ] as const) {
    const path = await makeExport(world, { ...noOp, model })
    const range = { start_at: '2019-01-01T00:00:00Z', end_at: null }
    t.equal((await world.send('POST', `${path}backfills/`, range)).status, 200)
    t.equal(jsonOf(await world.get(`${path}backfills/`)).results[0].start_at, first, model)
  }
})

t.test('cancels a backfill with its runs', async (t) => {
  const { path, post } = await open()
  const { backfill_id } = jsonOf(await post('backfills/', { start_at: '2024-05-01T12:00:00Z', end_at: null }))
  const ids = await addRuns(path, ['Running', 'Completed', 'Running'])
  await world.postgres.query('update batch_export_run set backfill_id = $1 where id = any ($2)', [
    backfill_id,
    ids.slice(0, 2),
  ])
  const reply = await post(`backfills/${backfill_id}/cancel/`)
  t.strictSame([reply.status, jsonOf(reply)], [200, { cancelled: true }])
  const { results } = jsonOf(await world.get(`${path}runs/`))
  const statusOf = (id: string | undefined) => results.find((run: { id: string }) => run.id === id).status
  t.strictSame(ids.map(statusOf), ['Cancelled', 'Completed', 'Running'])
  t.match(
    jsonOf(await post(`backfills/${backfill_id}/cancel/`)).detail,
    /^Cannot cancel a backfill that is in 'Cancelled'/,
  )
  t.equal((await post(`backfills/${ids[0]}/cancel/`)).status, 404)
})
