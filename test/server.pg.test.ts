import { join } from 'node:path'
import t from 'tap'
import { type Config, loadConfig } from '../src/config.ts'
import { takeDataDir } from '../src/data-dir.ts'
import { systemClock } from '../src/lib/clock.ts'
import { openEmbeddedPostgres } from '../src/postgres/embedded.ts'
import { openServer } from '../src/server.ts'
import { clusterDir, rowsOf } from './support/cluster.ts'
import { freshDatabase, silentLog } from './support/postgres.ts'
import { until } from './support/until.ts'

const options = { clock: systemClock, log: silentLog }
const apiKey = 'phc_server_test'

function configOf(dataDir: string, connectionString: string): Config {
  return loadConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: connectionString,
    BOOTSTRAP_PROJECT_API_KEY: apiKey,
  })
}

async function capture(port: number, key = apiKey): Promise<number> {
  const body = JSON.stringify({ api_key: key, event: 'e', distinct_id: 'u' })
  const reply = await fetch(`http://127.0.0.1:${port}/e/`, { method: 'POST', body })
  await reply.arrayBuffer()
  return reply.status
}

async function readiness(port: number): Promise<{ status: number; body: string }> {
  const reply = await fetch(`http://127.0.0.1:${port}/_readyz`)
  return { status: reply.status, body: await reply.text() }
}

t.test('a new key is usable at once, an unknown one is 401', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const server = await openServer(configOf(t.testdir(), connectionString), options)
  t.teardown(() => server.close())
  t.equal(await capture(server.port), 200)
  t.equal(await capture(server.port, 'phc_nobody'), 401)
  await until(async () => (await readiness(server.port)).body === '{"status":"ok","reasons":[]}')
})

t.test(
  'without Postgres a restarted server captures, is degraded, and asks unknown keys to come back',
  async (t) => {
    const { connectionString } = await freshDatabase(t)
    const dataDir = t.testdir()
    const first = await openServer(configOf(dataDir, connectionString), options)
    await first.close()
    const nowhere = 'postgresql://spate@127.0.0.1:1/spate'
    const server = await openServer(configOf(dataDir, nowhere), options)
    t.teardown(() => server.close())
    t.equal(await capture(server.port), 200)
    t.equal(await capture(server.port, 'phc_nobody'), 503)
    const { status, body } = await readiness(server.port)
    t.equal(status, 200)
    t.match(body, /"status":"degraded".*"component":"postgres"/)
  },
)

t.test('a start that fails half-way closes what it had opened', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const folder = t.testdir()
  const config = configOf(join(folder, 'data'), connectionString)
  const holder = await openServer(config, options)
  const busyPort = holder.port
  const elsewhere = configOf(join(folder, 'other'), (await freshDatabase(t)).connectionString)
  await t.rejects(openServer({ ...elsewhere, port: busyPort }, options))
  const taken = await takeDataDir(elsewhere.dataDir)
  await taken.release()
  await holder.close()
})

t.test('while Postgres is away events are captured and stored; persons follow when it is back', async (t) => {
  const dir = clusterDir(t)
  const embedded = await openEmbeddedPostgres({ dir, log: silentLog })
  const { connectionString } = embedded
  const server = await openServer(configOf(t.testdir(), connectionString), options)
  t.teardown(() => server.close())
  await until(async () => (await readiness(server.port)).body === '{"status":"ok","reasons":[]}')
  const lag = async (store: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    return Number(new RegExp(`^spate_${store}_lag_bytes{lane="realtime"} (\\d+)$`, 'm').exec(text)?.[1])
  }
  await embedded.stop()
  for (let i = 0; i < 5; i++) t.equal(await capture(server.port), 200)
  await until(async () => (await lag('events')) === 0)
  t.ok((await lag('persons')) > 0)
  await until(async () => /"component":"persons"/.test((await readiness(server.port)).body))
  t.equal((await readiness(server.port)).status, 200)

  const again = await openEmbeddedPostgres({ dir, log: silentLog })
  t.teardown(() => again.stop())
  await until(async () => (await lag('persons')) === 0)
  t.same(await rowsOf(connectionString, 'select distinct_id from person_distinct_id'), [{ distinct_id: 'u' }])
  await until(async () => (await readiness(server.port)).body === '{"status":"ok","reasons":[]}')
})
