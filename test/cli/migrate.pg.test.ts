import t from 'tap'
import { runMigrate } from '../../src/cli/migrate.ts'
import { loadConfig } from '../../src/config.ts'
import { freshDatabase } from '../support/postgres.ts'

t.test('migrates the database of DATABASE_URL without taking the data folder', async (t) => {
  const { connectionString } = await freshDatabase(t, true)
  const env = { DATABASE_URL: connectionString, DATA_DIR: '/proc/no/such/folder', LOG_LEVEL: 'silent' }
  const config = loadConfig(env)
  t.match(await runMigrate(config), /^applied 0001_organizations\n/)
  t.equal(await runMigrate(config), 'the schema is up to date\n')
})
