import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { loadConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { openServer } from '../../src/server.ts'
import { connectTo, testPersonalApiKey, testProjectApiKey } from '../support/client.ts'
import { clusterDir, rowsOf } from '../support/cluster.ts'
import { listenFor } from '../support/listen.ts'
import { silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'

t.setTimeout(280_000)

t.test(
  'Postgres going away in the middle of a run ends nothing, and the run goes on when it is back',
  async (t) => {
    const dir = clusterDir(t)
    const embedded = await openEmbeddedPostgres({ dir, log })
    const { connectionString } = embedded
    let aheadMs = 0
    const clock = { nowMs: () => systemClock.nowMs() + aheadMs, monotonicMs: systemClock.monotonicMs }
    const config = loadConfig({
      PORT: '0',
      DATA_DIR: t.testdir(),
      DATABASE_URL: connectionString,
      BOOTSTRAP_PROJECT_API_KEY: testProjectApiKey,
      BOOTSTRAP_PERSONAL_API_KEY: testPersonalApiKey,
      OUTBOUND_ALLOW: '127.0.0.1',
    })
    const running = await openServer(config, { clock, log })
    t.teardown(() => running.close())
    const server = connectTo(running.port)
    const bodies: { batch: { uuid: string }[] }[] = []
    const receiver = createServer(async (request, response) => {
      bodies.push(JSON.parse(gunzipSync(await buffer(request)).toString()))
      if (bodies.length === 1) await embedded.stop()
      response.end('{}')
    })
    const port = await listenFor(t, receiver)
    const isWell = async (): Promise<boolean> => /"status":"ok"/.test((await server.get('/_readyz')).text)
    await until(isWell)
    const capture = async (): Promise<number> =>
      (await server.post('/e/', { api_key: testProjectApiKey, event: 'e', distinct_id: 'u' })).status
    const url = `http://127.0.0.1:${port}/batch/`
    const body = {
      name: 'http',
      interval: 'hour',
      destination: { type: 'HTTP', config: { url, token: 'phc_other' } },
    }
    const authorization = `Bearer ${testPersonalApiKey}`
    t.equal((await server.post('/api/projects/1/batch_exports/', body, { authorization })).status, 201)
    t.equal(await capture(), 200)
    await server.settled()
    aheadMs = 2 * 3_600_000
    await rowsOf(connectionString, `select pg_notify('batch_export', 'plan')`)
    await until(async () =>
      /"component":"exports"|"component":"postgres"/.test((await server.get('/_readyz')).text),
    )
    t.equal(await capture(), 200)

    const again = await openEmbeddedPostgres({ dir, log })
    t.teardown(() => again.stop())
    const open = 'select from batch_export_run where finished_at is null'
    await until(async () => (await rowsOf(connectionString, open)).length === 0, 60_000)
    t.strictSame(
      await rowsOf(connectionString, `select distinct status from batch_export_run`).then((rows) =>
        rows.map((row) => ({ ...(row as object) })),
      ),
      [{ status: 'Completed' }],
    )
    t.equal(bodies.length, 2, 'the chunk that could not be committed came once more')
    t.strictSame(bodies[1]!.batch, bodies[0]!.batch)
    await until(isWell)
  },
)
