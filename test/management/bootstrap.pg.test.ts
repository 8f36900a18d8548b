import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hashKey } from '../../src/api/keys.ts'
import { bootstrap } from '../../src/management/bootstrap.ts'
import type { Postgres } from '../../src/postgres/pool.ts'
import { freshPostgres } from '../support/postgres.ts'

const config = {
  bootstrapProjectApiKey: null,
  bootstrapPersonalApiKey: null,
  bootstrapEmail: 'owner@localhost',
}

async function stored(postgres: Postgres) {
  const { rows } = await postgres.query(
    `select o.id as organization_id, p.id as project_id, p.api_token as project_api_key, k.secure_value, k.scopes,
            u.email, m.level
     from organization o join project p on p.organization_id = o.id join membership m on m.organization_id = o.id
     join app_user u on u.id = m.user_id and u.current_project_id = p.id
     join personal_api_key k on k.user_id = u.id`,
  )
  return rows
}

t.test(
  'the first start makes an organization, owner, project and keys, and later ones nothing',
  async (t) => {
    const postgres = await freshPostgres(t)
    const dataDir = t.testdir()
    const first = await bootstrap({ postgres, dataDir, config })
    const values = first.values!
    t.equal(first.created, true)
    t.match(values.project_api_key, /^phc_/)
    t.match(values.personal_api_key, /^phx_/)
    t.same(await stored(postgres), [
      {
        organization_id: values.organization_id,
        project_id: values.project_id,
        project_api_key: values.project_api_key,
        secure_value: hashKey(values.personal_api_key),
        scopes: ['*'],
        email: 'owner@localhost',
        level: 15,
      },
    ])
    const file = join(dataDir, 'bootstrap.json')
    t.same(JSON.parse(readFileSync(file, 'utf8')), values)
    t.equal(statSync(file).mode & 0o777, 0o600)
    t.same(await bootstrap({ postgres, dataDir, config }), { created: false, values })
    t.equal((await stored(postgres)).length, 1)
  },
)

t.test('a crash after the file was written loses no key', async (t) => {
  const postgres = await freshPostgres(t)
  const dataDir = t.testdir()
  // The commit is where the crash comes: everything before it has happened.
  const crashing: Postgres = {
    ...postgres,
    transaction: (body) =>
      postgres.transaction(async (session) => {
        await body(session)
        throw new Error('killed')
      }),
  }
  await t.rejects(bootstrap({ postgres: crashing, dataDir, config }), { message: 'killed' })
  const written: unknown = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'))
  t.same(await stored(postgres), [])
  t.same(await bootstrap({ postgres, dataDir, config }), { created: true, values: written })
  t.equal((await stored(postgres)).length, 1)
})

t.test('settings fix the keys and the owner', async (t) => {
  const postgres = await freshPostgres(t)
  const fixed = {
    bootstrapProjectApiKey: 'phc_fixed',
    bootstrapPersonalApiKey: 'phx_fixed',
    bootstrapEmail: 'ada@example.com',
  }
  const { values } = await bootstrap({ postgres, dataDir: t.testdir(), config: fixed })
  t.match(values, { project_api_key: 'phc_fixed', personal_api_key: 'phx_fixed', email: 'ada@example.com' })
})

t.test('two first starts on one database make one organization', async (t) => {
  const postgres = await freshPostgres(t)
  const folder = t.testdir({ a: {}, b: {} })
  const starts = ['a', 'b'].map((name) => bootstrap({ postgres, dataDir: join(folder, name), config }))
  const created = (await Promise.all(starts)).map((start) => start.created)
  t.same(created.sort(), [false, true])
  t.equal((await stored(postgres)).length, 1)
})

t.test('a database filled by somebody else is left alone', async (t) => {
  const postgres = await freshPostgres(t)
  const dataDir = t.testdir()
  await postgres.query(
    `insert into organization (id, name, slug) values (gen_random_uuid(), 'Theirs', 'theirs')`,
  )
  t.same(await bootstrap({ postgres, dataDir, config }), { created: false, values: null })
  t.notOk(existsSync(join(dataDir, 'bootstrap.json')))
})

t.test('an organization that was deleted does not come back with its keys', async (t) => {
  const postgres = await freshPostgres(t)
  const dataDir = t.testdir()
  await bootstrap({ postgres, dataDir, config })
  await postgres.query('delete from organization')
  t.equal((await bootstrap({ postgres, dataDir, config })).created, false)
  t.same((await postgres.query('select id from organization')).rows, [])
})

t.test('the next project gets the next id', async (t) => {
  const postgres = await freshPostgres(t)
  const { values } = await bootstrap({ postgres, dataDir: t.testdir(), config })
  const { rows } = await postgres.query(
    `insert into project (uuid, organization_id, api_token) values (gen_random_uuid(), $1, 'phc_next') returning id`,
    [values?.organization_id],
  )
  t.equal(values?.project_id, 1)
  t.same(rows, [{ id: 2 }])
})

t.test('a file that Spate did not write is not overwritten', async (t) => {
  const postgres = await freshPostgres(t)
  const dataDir = join(t.testdir(), 'data')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'bootstrap.json'), '{"project_id": "one"')
  await t.rejects(bootstrap({ postgres, dataDir, config }), { code: 'data_dir_unusable' })
  t.equal(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'), '{"project_id": "one"')
})
