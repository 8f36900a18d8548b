import { join } from 'node:path'
import t from 'tap'
import { runDoctor } from '../../src/cli/doctor.ts'
import { takeDataDir } from '../../src/data-dir.ts'
import { freshDatabase } from '../support/postgres.ts'

t.test('finds nothing wrong on a machine that can run Spate', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const env = { DATA_DIR: join(t.testdir(), 'data'), DATABASE_URL: connectionString }
  const { text, isHealthy } = await runDoctor({ env, asJson: false })
  t.equal(isHealthy, true, text)
  t.match(text, /^ok +node +v/m)
  t.match(text, /^ok +http server +uWebSockets\.js loads/m)
  t.match(text, /^ok +events store +DuckDB v\d/m)
  t.match(text, /^ok +postgres +reachable: PostgreSQL/m)
  t.match(text, /^ok +data folder .* will be made by the first start/m)
})

t.test('names each thing that is wrong', async (t) => {
  const dataDir = t.testdir()
  const taken = await takeDataDir(dataDir)
  t.teardown(() => taken.release())
  const env = { DATA_DIR: dataDir, DATABASE_URL: 'postgresql://u@127.0.0.1:1/spate', LOG_LEVEL: 'silent' }
  const { text, isHealthy } = await runDoctor({ env, asJson: true })
  t.equal(isHealthy, false)
  const { healthy, checks } = JSON.parse(text)
  t.equal(healthy, false)
  const found = (name: string) => checks.find((check: { name: string }) => check.name === name)
  t.match(found('data folder'), { status: 'wrong', finding: /in use by another Spate/ })
  t.match(found('postgres'), { status: 'wrong', finding: /ECONNREFUSED/ })
})

t.test('stops at settings that are not valid', async (t) => {
  const { text, isHealthy } = await runDoctor({ env: { PORT: '-1' }, asJson: false })
  t.equal(isHealthy, false)
  t.match(text, /^wrong +settings +PORT is "-1"/m)
})
