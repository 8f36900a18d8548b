// Batch exports from the API to the other side: what was captured over HTTP stands at each kind of destination, row by
// row and once, however often its interval is exported. MANAGEMENT.md's cases 61, 68, 70, 71 and 76, as far as
// something runs in them.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { duckdb, folder } from '../exports/staged.ts'
import { freshDatabase, silentLog as log } from '../support/postgres.ts'
import { startPostgresFront } from '../support/postgres-front.ts'
import { type S3Server, s3Bucket, s3Keys, s3Refusal, startS3 } from '../support/s3.ts'
import { type LocalServer, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { batch, type Fields } from './requests.ts'

/** When something was stored is the store's own word, which no test moves: so the first day is the real one. */
const todayMs = Math.floor(Date.now() / 86_400_000) * 86_400_000
const [today, tomorrow, after] = [0, 1, 2].map(textOf) as [string, string, string] // one for each
const waitMsMax = 60_000

const events = [
  {
    uuid: '018f3c80-0000-7000-8000-000000000001',
    properties: { n: 1, 'a "b"': 'x,\ny' },
    timestamp: '2019-12-31T23:59:59.123Z',
  },
  {
    uuid: '018f3c80-0000-7000-8000-000000000002',
    properties: { $ip: '1.2.3.4' },
    timestamp: '2024-05-01T11:59:00Z',
  },
  { uuid: '018f3c80-0000-7000-8000-000000000003', properties: {}, timestamp: '2024-05-01T12:00:00Z' },
].map((event, index) => ({ event: `e${index}`, distinct_id: 'ada', ...event }))

const stored = events.map(({ properties, timestamp, ...event }) => ({
  ...event,
  properties: { $ip: '127.0.0.1', ...properties },
  timestamp: new Date(timestamp).toISOString(),
}))

interface World {
  readonly server: LocalServer
  /** Of the server: one connection for all questions. */
  readonly postgres: Postgres
  readonly s3: S3Server
  /** Moves the clock to the first minute of a day that is so many days after today. */
  readonly atDay: (day: number) => void
}

/** A server of today that has stored the events above. */
async function openWorld(t: Test): Promise<World> {
  const time = { nowMs: Date.now() }
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => performance.now() }
  const s3 = await startS3(t)
  const server = await startServer(t, { clock, env: { OUTBOUND_ALLOW: '127.0.0.1' } })
  const postgres = openPostgres({ connectionString: server.databaseUrl, log })
  t.teardown(() => postgres.close())
  const reply = await server.post('/batch/', batch(...events))
  if (reply.status !== 200) throw new Error(reply.text)
  await server.settled()
  const atDay = (day: number): void => {
    time.nowMs = todayMs + day * 86_400_000 + 60_000
  }
  return { server, postgres, s3, atDay }
}

interface Run {
  readonly status: string
  readonly records_completed: number
  readonly latest_error: string | null
}

const { server, postgres, s3, atDay } = await openWorld(t)
const headers = { authorization: `Bearer ${server.personalApiKey}` }

async function post(path: string, body: Fields): Promise<Fields> {
  const { status, text } = await server.post(path, body, headers)
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
  return text === '' ? {} : (JSON.parse(text) as Fields)
}

/** Makes an export and returns its path. */
async function make(type: string, config: Fields, more: Fields = {}): Promise<string> {
  const path = `/api/projects/${server.projectId}/batch_exports/`
  const body = { name: type, interval: 'day', destination: { type, config }, paused: true, ...more }
  return `${path}${(await post(path, body)).id}/`
}

/** Waits until `count` runs have ended, of each export, and returns the newest of each. */
async function newest(count: number, ...paths: string[]): Promise<Run[]> {
  const ids = paths.map((path) => path.split('/').at(-2))
  await until(async () => {
    const { rows } = await postgres.query(
      `select from batch_export_run where batch_export_id = any ($1::uuid[])
       group by batch_export_id having count(*) = $2 and bool_and(finished_at is not null)`,
      [ids, count],
    )
    return rows.length === ids.length
  }, waitMsMax)
  return await Promise.all(
    paths.map(
      async (path) => (JSON.parse((await server.get(`${path}runs/`)).text) as { results: Run[] }).results[0]!,
    ),
  )
}

/** Exports today once more, all at once. */
async function backfill(...paths: string[]): Promise<void> {
  for (const path of paths) await post(`${path}backfills/`, { start_at: today, end_at: tomorrow })
}

function s3Config(prefix: string, more: Fields = {}): Fields {
  const place = { bucket_name: s3Bucket, region: 'us-east-1', prefix, endpoint_url: s3.endpoint }
  return { ...place, ...s3Keys, ...more }
}

async function keysIn(prefix: string): Promise<string[]> {
  return (await s3.keys()).filter((key) => key.startsWith(`${prefix}/`))
}

const jsonColumns = `uuid: 'uuid', event: 'varchar', distinct_id: 'varchar', properties: 'json', timestamp: 'varchar'`

/** The rows of the one file of an export to S3. */
async function rowsInS3(t: Test, key: string): Promise<unknown[]> {
  const file = join(folder(t), 'arrived')
  writeFileSync(file, await s3.object(key))
  const source = key.includes('parquet')
    ? `read_parquet('${file}')`
    : `read_ndjson('${file}', compression = 'gzip', columns = {${jsonColumns}})`
  const rows = await duckdb(
    `select uuid::varchar as uuid, event, distinct_id, properties::json::varchar as properties,
       strftime(timestamp::timestamp, '%Y-%m-%dT%H:%M:%S.%gZ') as timestamp
     from ${source} order by uuid`,
  )
  return rows.map(parsed)
}

t.test('events arrive at every kind of destination, and once more there is no more of them', async (t) => {
  atDay(1)
  const { connectionString } = await freshDatabase(t, true)
  const target = openPostgres({ connectionString, log })
  t.teardown(() => target.close())
  const { port } = await startPostgresFront(t, connectionString)
  const database = /@\/(\w+)\?/.exec(connectionString)![1]
  const table = { user: 'spate', password: 'p', host: '127.0.0.1', port, database }
  const other = await post('/api/organizations/@current/projects/', { name: 'other' })
  const paths = [
    await make('S3', s3Config('{table}/{year}', { file_format: 'Parquet', compression: 'zstd' })),
    await make('S3', s3Config('lines', { compression: 'gzip' })),
    await make('Postgres', table),
    await make('Redshift', { ...table, table_name: 'redshift' }),
    // One Spate feeds another; here it is the other project of the same.
    await make('HTTP', { url: `${server.url}/batch/`, token: other.api_token }),
    await make('NoOp', {}),
  ]
  const inPostgres = async (name: string): Promise<unknown[]> => {
    const { rows } = await target.query<Fields>(
      `select uuid, event, distinct_id, properties::text as properties,
         to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as timestamp
       from ${name} order by uuid`,
    )
    return rows.map(parsed)
  }
  for (const times of [1, 2]) {
    await backfill(...paths)
    for (const run of await newest(times, ...paths))
      t.match(run, { status: 'Completed', records_completed: 3, latest_error: null })
    const name = `${today}-${tomorrow}`
    t.same(await rowsInS3(t, `events/${tomorrow.slice(0, 4)}/${name}.parquet.zst`), stored)
    t.same(await rowsInS3(t, `lines/${name}.jsonl.gz`), stored)
    t.equal((await s3.keys()).length, 2)
    t.same(await inPostgres('events'), stored)
    t.same(await inPostgres('redshift'), stored)
    await server.settled()
    t.same(await eventsOf(Number(other.id)), fed)
  }
})

const fed = stored.map((row) => ({ ...row, properties: { ...row.properties, $geoip_disable: true } }))

/** Events of a project, the oldest uuid first. */
async function eventsOf(projectId: number): Promise<unknown[]> {
  const { text } = await server.get(`/api/projects/${projectId}/events/`)
  const { results } = JSON.parse(text) as { results: Fields[] }
  return results
    .map(({ id, event, distinct_id, properties, timestamp }) => ({
      uuid: id,
      event,
      distinct_id,
      properties,
      timestamp: new Date(String(timestamp)).toISOString(),
    }))
    .sort((a, b) => (String(a.uuid) < String(b.uuid) ? -1 : 1))
}

t.test('what S3 refuses fails the run without a secret in any answer, and a retry mends it', async (t) => {
  const path = await make('S3', s3Config('refused'))
  s3.intercept = ({ headers: { authorization = '' } }, response) =>
    s3Refusal(response, 403, 'AccessDenied', `${authorization} ${s3Keys.aws_secret_access_key}`)
  await backfill(path)
  const [failed] = await newest(1, path)
  t.match(failed, { status: 'Failed', records_completed: 0, latest_error: /^S3 denies access: / })
  const shown = await Promise.all(
    ['', 'runs/', 'logs/'].map(async (end) => (await server.get(`${path}${end}`)).text),
  )
  t.match(shown[2], 'S3 denies access: ')
  t.notMatch(shown.join('\n'), /S3RVER|AWS4-HMAC/)
  s3.intercept = () => false
  t.same(await keysIn('refused'), [])
  const { results } = JSON.parse((await server.get(`${path}runs/`)).text)
  await post(`${path}runs/${results[0].id}/retry/`, {})
  t.match(await newest(2, path), [{ status: 'Completed', records_completed: 3 }])
  t.same(await keysIn('refused'), [`refused/${today}-${tomorrow}.jsonl`])
})

t.test('an interval that ends is exported by itself, and a pause is made up for', async (t) => {
  atDay(0)
  const path = await make('S3', s3Config('scheduled'), { paused: false })
  atDay(1)
  // Not before its time comes by: that would be five seconds.
  const wake = () => postgres.query(`select pg_notify('batch_export', 'plan')`)
  await wake()
  t.match(await newest(1, path), [{ status: 'Completed', records_completed: 3 }])
  t.same(await keysIn('scheduled'), [`scheduled/${today}-${tomorrow}.jsonl`])
  await post(`${path}pause/`, {})
  const late = { ...events[0], uuid: '018f3c80-0000-7000-8000-000000000004' }
  t.equal((await server.post('/batch/', batch(late))).status, 200)
  await server.settled()
  atDay(2)
  await post(`${path}unpause/`, { backfill: true })
  t.match(await newest(2, path), [{ status: 'Completed', records_completed: 1 }])
  const [, second = ''] = await keysIn('scheduled')
  t.equal(second, `scheduled/${tomorrow}-${after}.jsonl`)
  t.match((await s3.object(second)).toString(), late.uuid)
})

/** The beginning of a day as S3's files say it. */
function textOf(day: number): string {
  return `${new Date(todayMs + day * 86_400_000).toISOString().slice(0, 19)}+00:00`
}

function parsed(row: object): object {
  const { properties, ...rest } = row as Fields
  return { ...rest, properties: JSON.parse(String(properties)) }
}
