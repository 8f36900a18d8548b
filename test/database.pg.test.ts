import { createServer } from 'node:net'
import t from 'tap'
import { loadConfig } from '../src/config.ts'
import { openDatabase } from '../src/database.ts'
import { freshDatabase, silentLog } from './support/postgres.ts'
import { until } from './support/until.ts'

const epoch = '0190a0b0-0000-7000-8000-000000000001'

t.test('brings an empty database to use and says so', async (t) => {
  const { connectionString } = await freshDatabase(t, true)
  const config = loadConfig({ DATA_DIR: t.testdir(), DATABASE_URL: connectionString })
  const database = openDatabase({ config, epoch, log: silentLog })
  t.teardown(() => database.close())
  t.type(database.problem(), 'string')
  const { created, values } = await database.ready
  t.equal(created, true)
  t.equal(database.problem(), null)
  t.equal(await database.connectionString, connectionString)
  const { rows } = await database.postgres.query<{ api_token: string }>('select api_token from project')
  t.same(rows, [{ api_token: values?.project_api_key }])
})

t.test('waits for a database that is not there yet, and tells why meanwhile', async (t) => {
  // A port that refuses: it was free a moment ago.
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  const port = typeof address === 'object' && address ? address.port : 0
  await new Promise((resolve) => probe.close(resolve))
  const config = loadConfig({ DATA_DIR: t.testdir(), DATABASE_URL: `postgresql://u@127.0.0.1:${port}/spate` })
  const database = openDatabase({ config, epoch, log: silentLog })
  await until(() => /ECONNREFUSED/.test(database.problem() ?? ''))
  await t.rejects(database.postgres.query('select 1'), { code: 'postgres_unavailable' })
  await database.close()
})

t.test('refuses for good what belongs to another journal', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const config = loadConfig({ DATA_DIR: t.testdir(), DATABASE_URL: connectionString })
  const first = openDatabase({ config, epoch, log: silentLog })
  await first.ready
  await first.close()
  const second = openDatabase({ config, epoch: epoch.replace('1', '2'), log: silentLog })
  t.teardown(() => second.close())
  await t.rejects(second.ready, { code: 'lineage_foreign' })
  await t.rejects(second.connectionString, { code: 'lineage_foreign' })
})
