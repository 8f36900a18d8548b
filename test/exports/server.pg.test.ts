// Exports through whole servers: made over the API, run by the clock, read where they went.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { childEnvironment } from '../../src/config.ts'
import { exportsKillPoints } from '../../src/kill-point.ts'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { uuidOf } from '../events/make-batch.ts'
import { connectTo, type TestServer, testPersonalApiKey, testProjectApiKey } from '../support/client.ts'
import { rowsOf } from '../support/cluster.ts'
import { freshDatabase, silentLog as log } from '../support/postgres.ts'
import { startPostgresFront } from '../support/postgres-front.ts'
import { type S3Server, s3Bucket, s3Keys, startS3 } from '../support/s3.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

t.setTimeout(280_000)

const child = fileURLToPath(new URL('./server-child.js', import.meta.url))
const waitMsMax = 60_000

type Environment = Readonly<Record<string, string>>

/** Starts the server `hours` ahead of the real time. */
function start(t: Test, env: Environment, hours: number, killAt = ''): ChildProcess {
  const settings = { ...childEnvironment(), ...env, ...(killAt === '' ? {} : { CRASH_AT: killAt }) }
  const running = fork(child, [String(hours)], { env: settings })
  t.teardown(() => running.kill('SIGKILL'))
  return running
}

async function connected(running: ChildProcess): Promise<TestServer> {
  const [port] = await once(running, 'message')
  return connectTo(Number(port))
}

async function killed(running: ChildProcess): Promise<string> {
  const [code, signal] = await once(running, 'exit')
  return signal ?? String(code)
}

async function capture(server: TestServer, numbers: readonly number[], bytes = 10): Promise<void> {
  const batch = numbers.map((n) => ({
    uuid: uuidOf(n),
    event: 'bought',
    distinct_id: 'ada',
    timestamp: n % 2 === 0 ? '2020-02-29T12:00:00Z' : '2026-01-01T00:00:00Z', // every other one is years late
    properties: { n, text: 'x'.repeat(bytes) },
  }))
  const reply = await server.post('/batch/', { api_key: testProjectApiKey, batch })
  if (reply.status !== 200) throw new Error(reply.text)
  await server.settled()
}

async function makeExport(server: TestServer, type: string, config: object): Promise<string> {
  const body = { name: type, interval: 'hour', destination: { type, config } }
  const authorization = `Bearer ${testPersonalApiKey}`
  const reply = await server.post('/api/projects/1/batch_exports/', body, { authorization })
  if (reply.status !== 201) throw new Error(reply.text)
  return JSON.parse(reply.text).id
}

/** Waits until runs of every export have ended and delivered so many records; the API has to call them complete. */
async function delivered(
  postgres: Postgres,
  server: TestServer,
  exportIds: readonly string[],
  count: number,
): Promise<void> {
  await until(async () => {
    const { rows } = await postgres.query(
      `select from batch_export_run group by batch_export_id
       having bool_and(finished_at is not null) and sum(records_completed) = $1`,
      [count],
    )
    return rows.length === exportIds.length
  }, waitMsMax)
  for (const id of exportIds) {
    const { text } = await server.get(`/api/projects/1/batch_exports/${id}/runs/`)
    const runs: { status: string; latest_error: string | null }[] = JSON.parse(text).results
    const bad = runs.find(({ status }) => status !== 'Completed')
    if (bad) throw new Error(`${bad.status}: ${bad.latest_error}`)
  }
}

async function uuidsInS3(s3: S3Server): Promise<unknown[]> {
  const texts = await Promise.all(
    (await s3.keys()).filter((key) => key.includes('jsonl')).map(async (key) => String(await s3.object(key))),
  )
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''))
  return lines.map((line) => JSON.parse(line).uuid).sort()
}

const uuids = (count: number): string[] => Array.from({ length: count }, (_, index) => uuidOf(index + 1))

t.test('what was captured is once at every destination, however often the server is killed', async (t) => {
  const { connectionString } = await freshDatabase(t)
  // One connection for all questions: making one takes more than most of them.
  const postgres = openPostgres({ connectionString, log })
  t.teardown(() => postgres.close())
  const env = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: t.testdir(),
    DATABASE_URL: connectionString,
    LOG_LEVEL: 'silent',
    BOOTSTRAP_PROJECT_API_KEY: testProjectApiKey,
    BOOTSTRAP_PERSONAL_API_KEY: testPersonalApiKey,
    OUTBOUND_ALLOW: '127.0.0.1',
  }
  const target = (await freshDatabase(t, true)).connectionString
  const front = await startPostgresFront(t, target)
  const s3 = await startS3(t)
  const second = await startServer(t, { nowMs: null })

  // Nothing is due before the clock is moved. A start costs more than all else here.
  const [firstPoint, ...otherPoints] = exportsKillPoints
  const first = start(t, env, 0, firstPoint)
  let server = await connected(first)
  await until(async () => /"status":"ok"/.test((await server.get('/_readyz')).text))
  const exportIds = [
    await makeExport(server, 'NoOp', {}),
    await makeExport(server, 'HTTP', { url: `${second.url}/batch/`, token: testProjectApiKey }),
    await makeExport(server, 'S3', {
      bucket_name: s3Bucket,
      region: 'us-east-1',
      prefix: 'events',
      endpoint_url: s3.endpoint,
      max_file_size_mb: 1,
      ...s3Keys,
    }),
    await makeExport(server, 'Postgres', {
      user: 'spate',
      password: 'any',
      host: '127.0.0.1',
      port: front.port,
      database: /@\/(\w+)\?/.exec(target)![1],
    }),
  ]
  await capture(
    server,
    Array.from({ length: 20 }, (_, index) => index + 1),
    100_000,
  )
  await capture(server, [3, 4])

  // Two hours on, what was captured lies in an hour that has ended.
  const end = killed(first)
  first.send(2)
  await postgres.query(`select pg_notify('batch_export', 'plan')`)
  t.equal(await end, 'SIGKILL', firstPoint)
  for (const point of otherPoints) t.equal(await killed(start(t, env, 2, point)), 'SIGKILL', point)

  const last = start(t, env, 2)
  server = await connected(last)
  await delivered(postgres, server, exportIds, 20)
  await capture(server, [5, 6, 21, 22])
  last.send(4)
  await postgres.query(`select pg_notify('batch_export', 'plan')`)
  await delivered(postgres, server, exportIds, 22)

  t.strictSame(await uuidsInS3(s3), uuids(22))
  t.ok((await s3.keys()).length > 3, 'the hour was more than one chunk')
  const rows = await rowsOf(target, 'select uuid, count(*)::integer from events group by uuid order by uuid')
  t.strictSame(
    rows.map((row) => ({ ...(row as object) })),
    uuids(22).map((uuid) => ({ uuid, count: 1 })),
  )
  const stored = await second.storedEvents({ event: 'bought' })
  t.strictSame(stored.map(({ id }) => id).sort(), uuids(22))

  // A stop does not wait for a destination that says nothing.
  let isAsked = false
  s3.intercept = () => {
    isAsked = true
    return true
  }
  await capture(server, [23])
  last.send(6)
  await postgres.query(`select pg_notify('batch_export', 'plan')`)
  await until(() => isAsked, waitMsMax)
  last.kill('SIGTERM')
  t.equal(await killed(last), '0')
})
