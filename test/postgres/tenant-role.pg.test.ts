import t, { type Test } from 'tap'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { ensureTenantRole } from '../../src/postgres/tenant-role.ts'
import { freshDatabase, freshPostgres, silentLog as log } from '../support/postgres.ts'

t.test('is content with a role that can be taken on', async (t) => {
  const postgres = await freshPostgres(t)
  await t.resolves(ensureTenantRole(postgres))
})

t.test('tells a user who may not make the role what an administrator has to do', async (t) => {
  const postgres = await connectAs(t, 'poor "user"', 'login')
  await t.rejects(ensureTenantRole(postgres), {
    code: 'config_invalid',
    detail: /create role spate_tenant nologin; grant spate_tenant to "poor ""user""";$/,
  })
})

t.test('a user who may make roles and has this one to give gets it', async (t) => {
  const postgres = await connectAs(
    t,
    'able_user',
    'login createrole',
    'with admin true, set false, inherit false',
  )
  await ensureTenantRole(postgres)
  await postgres.transaction(async (session) => {
    await session.query('set local role spate_tenant')
    t.match((await session.query('select current_user as name')).rows, [{ name: 'spate_tenant' }])
  })
})

/** A connection of a new user of the run's server, who holds the role as `grant` says. */
async function connectAs(t: Test, name: string, options: string, grant?: string): Promise<Postgres> {
  const { connectionString } = await freshDatabase(t)
  const superuser = openPostgres({ connectionString: connectionString.replace('spate@', 'postgres@'), log })
  const quoted = `"${name.replaceAll('"', '""')}"`
  await superuser.query(`create role ${quoted} ${options}`)
  if (grant !== undefined) await superuser.query(`grant spate_tenant to ${quoted} ${grant}`)
  const url = connectionString.replace('spate@', `${encodeURIComponent(name)}@`)
  const postgres = openPostgres({ connectionString: url, log })
  t.teardown(async () => {
    await postgres.close()
    await superuser.query(`drop owned by ${quoted}`)
    await superuser.query(`drop role ${quoted}`)
    await superuser.close()
  })
  return postgres
}
