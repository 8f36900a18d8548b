import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runReseal } from '../../src/cli/reseal.ts'
import { loadConfig } from '../../src/config.ts'
import { freshDatabase } from '../support/postgres.ts'

t.test('seals with the first key, or with one that it makes', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const dataDir = t.testdir()
  const config = loadConfig({ DATABASE_URL: connectionString, DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const done =
    '0 credentials sealed with the current key\nno other key is needed any more, except to read older backups\n'
  t.same(await runReseal(config, { withNewKey: false }), { text: done, isComplete: true })
  const keyLines = () => readFileSync(join(dataDir, 'secret.key'), 'utf8').trim().split('\n')
  const [first] = keyLines()
  t.same(await runReseal(config, { withNewKey: true }), { text: done, isComplete: true })
  t.equal(keyLines().length, 2)
  t.equal(keyLines()[1], first)
})
