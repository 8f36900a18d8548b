// Batch exports over HTTP, answer by answer: status and body as a client gets them.

import t from 'tap'
import { addKey, ids, jsonOf } from '../api/world.ts'
import { exportsPath, makeExport, noOp, openExportWorld, s3 } from '../management/batch-export-world.ts'
import { askerOf, denied, error, forbidden, invalid, notFound, type Whole } from './answers.ts'

const world = await openExportWorld(t)
const { get, send, remove } = askerOf(world)
const now = '2024-05-01T12:00:00Z'

const fresh = {
  team_id: 1,
  model: 'events',
  paused: false,
  created_at: now,
  last_updated_at: now,
  last_paused_at: null,
  start_at: null,
  end_at: null,
  latest_runs: [],
  hogql_query: null,
  schema: null,
  filters: null,
}
const idOf = ([, body]: Whole): string => (body as { id: string }).id // an export

t.test('a new one is shown without its secrets', async (t) => {
  const reply = await send('POST', exportsPath, s3)
  t.strictSame(reply, [
    201,
    {
      ...fresh,
      id: idOf(reply),
      name: 'to s3',
      destination: {
        type: 'S3',
        config: { bucket_name: 'bucket', region: 'us-east-1', prefix: 'events/' },
      },
      interval: 'hour',
    },
  ])
  t.strictSame(await get(`${exportsPath}${idOf(reply)}/`), [200, reply[1]])
})

t.test('sessions, and an export every five minutes, are there for everybody', async (t) => {
  const body = { ...noOp, model: 'sessions', interval: 'every 5 minutes' }
  const reply = await send('POST', exportsPath, body)
  t.strictSame(reply, [201, { ...fresh, ...body, id: idOf(reply) }])
})

t.test('refuses what it does not know, by field', async (t) => {
  const choice = (value: string, attr: string) =>
    invalid('invalid_choice', `"${value}" is not a valid choice.`, attr)
  t.strictSame(
    await send('POST', exportsPath, { ...s3, interval: 'fortnight' }),
    choice('fortnight', 'interval'),
  )
  t.strictSame(
    await send('POST', exportsPath, { ...s3, destination: { type: 'FTP', config: {} } }),
    choice('FTP', 'destination__type'),
  )
  t.strictSame(
    await send('POST', exportsPath, { ...noOp, start_at: '' }),
    invalid(
      'invalid_input',
      'Datetime has wrong format. Use one of these formats instead: ' +
        'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
      'start_at',
    ),
  )
  const csv = { type: 'S3', config: { ...s3.destination.config, file_format: 'CSV' } }
  t.strictSame(
    await send('POST', exportsPath, { ...s3, destination: csv }),
    invalid(
      'invalid_input',
      "File format CSV is not supported. Supported file formats are ['Parquet', 'JSONLines']",
      'destination',
    ),
  )
  const query = (hogql_query: string) => send('POST', exportsPath, { ...noOp, hogql_query })
  t.strictSame(await query('SELECT'), invalid('invalid_input', 'Failed to parse query', 'hogql_query'))
  t.strictSame(
    await query('SELECT event FROM events UNION ALL SELECT event FROM events'),
    invalid('invalid_input', 'UNIONs are not supported', 'hogql_query'),
  )
})

t.test('a pause is answered without a body, and shown', async (t) => {
  const path = await makeExport(world)
  const before = jsonOf(await world.get(path))
  t.strictSame(await send('POST', `${path}pause/`, noOp), [200, ''])
  t.strictSame(await get(path), [200, { ...before, paused: true, last_paused_at: now }])
  t.strictSame(await send('POST', `${path}unpause/`, noOp), [200, ''])
  t.strictSame(await get(path), [200, { ...before, last_paused_at: now }])
})

t.test('what a pause has missed is exported when asked for', async (t) => {
  const path = await makeExport(world)
  await send('POST', `${path}pause/`, {})
  world.clock.ms += 3_600_000
  t.strictSame(await send('POST', `${path}unpause/`, { backfill: true }), [200, ''])
  const later = '2024-05-01T13:00:00Z'
  t.equal(jsonOf(await world.get(path)).last_updated_at, later)
  const { results } = jsonOf(await world.get(`${path}backfills/`))
  t.strictSame(results, [
    {
      id: results[0]?.id,
      progress: { total_runs: 1, finished_runs: 0, progress: 0 },
      start_at: now,
      end_at: later,
      status: 'Starting',
      created_at: later,
      finished_at: null,
      last_updated_at: later,
      team: 1,
      batch_export: path.split('/').at(-2),
    },
  ])
  world.clock.ms -= 3_600_000
})

t.test('a backfill wants two moments in order, each with its offset', async (t) => {
  const path = await makeExport(world)
  const start_at = '2024-05-01T12:00:00+00:00'
  const ask = (range: object) => send('POST', `${path}backfill/`, range)
  t.strictSame(await ask({ start_at, end_at: '2024-05-01T13:00:00+00:00' }), [200, ''])
  const refused = (detail: string) => invalid('invalid_input', detail, null)
  t.strictSame(
    await ask({ start_at: 'not a date', end_at: start_at }),
    refused('Input not a date is not a valid ISO formatted datetime.'),
  )
  t.strictSame(
    await ask({ start_at: '2024-05-01T12:00:00', end_at: '2024-05-01T13:00:00+00:00' }),
    refused('Input 2024-05-01T12:00:00 is naive.'),
  )
  t.strictSame(
    await ask({ start_at, end_at: start_at }),
    refused("The initial backfill datetime 'start_at' happens after 'end_at'"),
  )
  t.equal(jsonOf(await world.get(`${path}backfills/`)).count, 1)
})

t.test('those of others are forbidden or not there, and stay as they are', async (t) => {
  const path = await makeExport(world)
  const before = await get(path)
  const range = { start_at: '2024-05-01T12:00:00Z', end_at: '2024-05-01T13:00:00Z' }
  for (const action of ['pause/', 'unpause/', 'backfill/', 'backfills/']) {
    t.strictSame(await send('POST', path + action, range, 'phx_stranger'), forbidden)
    const elsewhere = path.replace(ids.ours, ids.theirs) + action
    t.strictSame(await send('POST', elsewhere, range, 'phx_stranger'), notFound)
    const otherProject = path.replace(`organizations/${ids.ours}`, 'projects/2') + action
    t.strictSame(await send('POST', otherProject, range), notFound)
  }
  t.strictSame(await get(path), before)
  t.equal(jsonOf(await world.get(`${path}backfills/`)).count, 0)
})

t.test('a key that reads does not write', async (t) => {
  const path = await makeExport(world)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['batch_export:read'] })
  t.strictSame(await get(path, 'phx_reader'), [200, jsonOf(await world.get(path))])
  t.strictSame(
    await send('POST', `${path}pause/`, {}, 'phx_reader'),
    denied("API key missing required scope 'batch_export:write'"),
  )
})

t.test('a deleted one is gone', async (t) => {
  const path = await makeExport(world)
  t.strictSame(await remove(path), [204, ''])
  t.strictSame(await get(path), notFound)
  t.strictSame(await remove(path), notFound)
})

t.test('its log has pages of at most 500, and no other method', async (t) => {
  const path = await makeExport(world)
  t.strictSame(await get(`${path}logs/?after=&level=`), [
    200,
    { count: 0, next: null, previous: null, results: [] },
  ])
  t.strictSame(
    await get(`${path}logs/?limit=501`),
    invalid('max_value', 'Ensure this value is less than or equal to 500.', 'limit'),
  )
  t.strictSame(
    await send('POST', `${path}logs/`, {}),
    error(405, 'invalid_request', 'method_not_allowed', 'Method "POST" not allowed.'),
  )
})
