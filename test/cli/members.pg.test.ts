import t from 'tap'
import { runKeysCreate, runKeysList, runKeysRevoke } from '../../src/cli/keys.ts'
import { runMembersAdd } from '../../src/cli/members.ts'
import { loadConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { fillTenants, ids } from '../api/world.ts'
import { freshDatabase, silentLog as log } from '../support/postgres.ts'

t.test('adds members and their keys from the shell', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log })
  t.teardown(() => postgres.close())
  await fillTenants(postgres)
  const config = loadConfig({ DATABASE_URL: connectionString, DATA_DIR: '/proc/none', LOG_LEVEL: 'silent' })
  const add = (email: string, more: object = {}) =>
    runMembersAdd(config, systemClock, {
      email,
      level: 'owner',
      firstName: 'New',
      organization: 'ours',
      ...more,
    })

  t.match(
    await add('new@spate.example'),
    /^new@spate\.example is now owner of Ours\npersonal API key.*: phx_\w{40,}\n$/,
  )
  t.equal(
    await add('Stranger@spate.example', { organization: ids.ours }),
    'Stranger@spate.example is now owner of Ours\n',
  )
  await t.rejects(add('new@spate.example'), { code: 'invalid_input', detail: /is a member of Ours already/ })
  await t.rejects(add('nobody'), { code: 'invalid_input' })
  await t.rejects(add('a@b.example', { organization: 'none' }), { code: 'not_found' })
  await t.rejects(add('a@b.example', { organization: '' }), { code: 'not_found', detail: /--organization/ })
  const { rows } = await postgres.query(
    `select (select count(*) from app_user) as users, (select count(*) from membership where level = 15) as owners,
       (select count(*) from organization_activity where key_id is null) as entries`,
  )
  t.same(rows, [{ users: 5, owners: 4, entries: 2 }])

  const key = await runKeysCreate(config, systemClock, { email: 'NEW@spate.example', label: 'CI' })
  t.match(key, /^phx_\w{40,}\n$/)
  const listed = await runKeysList(config, 'new@spate.example')
  t.match(listed, /phx_\.\.\.\w{4} {2}First key {2}\* {2}never used\n.* {2}CI {2}\* {2}never used\n$/)
  const id = listed.split('\n')[1]?.split(' ')[0] ?? ''
  t.equal(await runKeysRevoke(config, systemClock, id), `revoked ${id}\n`)
  await t.rejects(runKeysRevoke(config, systemClock, id), { code: 'not_found' })
  t.notMatch(await runKeysList(config, 'new@spate.example'), /CI/)
  await t.rejects(runKeysList(config, 'nobody@spate.example'), { code: 'not_found' })
  const long = { email: 'new@spate.example', label: 'a'.repeat(41) }
  await t.rejects(runKeysCreate(config, systemClock, long), { code: 'max_length' })
})
