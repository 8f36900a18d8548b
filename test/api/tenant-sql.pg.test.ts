import t, { type Test } from 'tap'
import type { Principal } from '../../src/api/principal.ts'
import {
  enterNewOrganization,
  organizationSql,
  principalSql,
  projectSql,
  type TenantSql,
} from '../../src/api/tenant-sql.ts'
import { type Postgres, sqlState } from '../../src/postgres/pool.ts'
import { freshPostgres } from '../support/postgres.ts'
import { fillTenants, ids } from './world.ts'

const insufficientPrivilege = '42501'

const owner: Principal = {
  keyId: 'phx_owner',
  scopes: ['*'],
  scopedOrganizations: [],
  scopedProjects: [],
  expiresAt: null,
  userId: 3,
  userUuid: '00000000-0000-4000-8000-000000000003',
  email: 'owner@spate.example',
  currentOrganizationId: ids.ours,
  currentProjectId: ids.ourProject,
}

async function open(t: Test): Promise<Postgres> {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  for (const project of [1, 2, 3]) {
    await postgres.query(
      `insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes)
       values ($1, gen_random_uuid(), now(), false, 0, '{}', 2)`,
      [project],
    )
  }
  return postgres
}

/** What is there when nobody asks for a tenant. */
async function seen(sql: TenantSql): Promise<object> {
  const { rows } = await sql.query(
    `select array(select name from organization order by name) as organizations,
       array(select id from project order by id) as projects,
       array(select project_id from person order by project_id) as persons,
       array(select distinct_id from app_user order by distinct_id) as users,
       array(select id from personal_api_key order by id) as keys`,
  )
  return rows[0]!
}

t.test('a statement without where clause finds the tenants of its request only', async (t) => {
  const postgres = await open(t)
  const ourUsers = ['administrator', 'member', 'owner']
  const ourKeys = ['phx_administrator', 'phx_member', 'phx_owner']
  const ours = { organizations: ['Ours'], projects: [1, 2], persons: [1, 2], users: ourUsers, keys: ourKeys }
  t.same(await seen(organizationSql(postgres, 3, { id: ids.ours })), ours)
  t.same(await seen(projectSql(postgres, 3, { id: 2, organization: { id: ids.ours } })), {
    ...ours,
    projects: [2],
    persons: [2],
  })
  t.same(await seen(principalSql(postgres, owner)), ours)
})

t.test('a key that is limited sees what it is limited to and the user belongs to', async (t) => {
  const postgres = await open(t)
  await postgres.query(
    `insert into membership (id, organization_id, user_id, level) values (gen_random_uuid(), $1, 3, 1)`,
    [ids.theirs],
  )
  const both = await seen(principalSql(postgres, owner))
  t.match(both, { organizations: ['Ours', 'Theirs'], projects: [1, 2, 3], persons: [1, 2, 3] })
  const one = await seen(principalSql(postgres, { ...owner, scopedOrganizations: [ids.theirs] }))
  t.match(one, { organizations: ['Theirs'], projects: [3], persons: [3] })
  const project = await seen(principalSql(postgres, { ...owner, scopedProjects: [2] }))
  t.match(project, { organizations: ['Ours'], projects: [2], persons: [2] })
  const former = await seen(principalSql(postgres, { ...owner, userId: 2, scopedProjects: [3] }))
  t.match(former, { organizations: [], projects: [], persons: [], users: ['administrator'] })
})

t.test('a change of other tenants changes nothing, and a row for them is refused', async (t) => {
  const postgres = await open(t)
  const sql = organizationSql(postgres, 3, { id: ids.ours })
  t.equal((await sql.query(`update organization set name = 'Taken' where id = $1`, [ids.theirs])).rowCount, 0)
  t.equal((await sql.query('delete from membership where organization_id = $1', [ids.theirs])).rowCount, 0)
  t.equal((await sql.query('delete from personal_api_key where user_id <> 3')).rowCount, 0)
  const statements = [
    `insert into project (uuid, organization_id, api_token) values (gen_random_uuid(), '${ids.theirs}', 'phc_x')`,
    `update project set organization_id = '${ids.theirs}'`,
    `insert into membership (id, organization_id, user_id, level)
     values (gen_random_uuid(), '${ids.theirs}', 3, 15)`,
    'select secure_value from personal_api_key',
    'update organization_activity set activity = null',
    'delete from person',
    'select from person_0',
    'select from store_change',
  ]
  for (const statement of statements) {
    const error = await sql.query(statement).catch((caught: unknown) => caught)
    t.equal(sqlState(error), insufficientPrivilege, statement)
  }
  const { rows } = await postgres.query(`select name from organization order by name`)
  t.same(rows, [{ name: 'Ours' }, { name: 'Theirs' }])
})

t.test('the role ends with the transaction, and with it what it sees', async (t) => {
  const postgres = await open(t)
  const sql = organizationSql(postgres, 3, { id: ids.ours })
  await t.rejects(
    sql.transaction(async (session) => {
      await session.query(`update organization set name = 'Half'`)
      throw new Error('stop')
    }),
    { message: 'stop' },
  )
  const { rows } = await postgres.query('select count(*) from organization where name in ($1, $2)', [
    'Ours',
    'Theirs',
  ])
  t.same(rows, [{ count: 2 }])
  // The role without an entrance sees nothing.
  await postgres.transaction(async (session) => {
    await session.query('set local role spate_tenant')
    t.same((await session.query('select id from organization')).rows, [])
    t.same((await session.query('select project_id from person')).rows, [])
  })
})

t.test('a transaction that makes an organization sees that one and no other', async (t) => {
  const postgres = await open(t)
  const names = await principalSql(postgres, owner).transaction(async (session) => {
    await enterNewOrganization(session, ids.nobodys)
    await session.query(`insert into organization (id, name, slug) values ($1, 'New', 'new')`, [ids.nobodys])
    return (await session.query('select name from organization')).rows
  })
  t.same(names, [{ name: 'New' }])
})
