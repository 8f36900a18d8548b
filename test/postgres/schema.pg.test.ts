import t from 'tap'
import { freshPostgres } from '../support/postgres.ts'

/** Tables that belong to no tenant, each with its reason. */
const tenantless = [
  'app_user', // belongs to many organizations
  'journal_lineage', // one row for the whole database
  'organization', // is the tenant
  'person_gap', // a stretch of the journal, which all tenants share
  'personal_api_key', // belongs to a user
  'persons_progress', // one row for the whole database
  'schema_migration', // the migration runner's
]

t.test('every table says who writes it', async (t) => {
  const postgres = await freshPostgres(t)
  const { rows } = await postgres.query(
    `select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
       and not relispartition and relname <> 'schema_migration' and obj_description(oid, 'pg_class') is null`,
  )
  t.same(rows, [])
})

t.test('every table of a tenant carries organization_id or project_id', async (t) => {
  const postgres = await freshPostgres(t)
  const { rows } = await postgres.query<{ table_name: string }>(
    `select table_name from information_schema.tables
     where table_schema = 'public' and table_name <> all ($1) and table_name not in (
       select table_name from information_schema.columns where column_name in ('organization_id', 'project_id'))`,
    [tenantless],
  )
  t.same(rows, [])
})

t.test('every table of a tenant is behind a wall for management, and has no grant beside it', async (t) => {
  const postgres = await freshPostgres(t)
  const { rows } = await postgres.query(
    `select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
       and not relispartition and relname <> all ($1)
       and not (relrowsecurity and exists (select from pg_policies
         where tablename = relname and 'spate_tenant' = any (roles) and qual ~ 'spate_(organizations|projects)'))`,
    [tenantless],
  )
  t.same(rows, [])
  const open = await postgres.query<{ relname: string }>(
    `select relname from pg_class where relkind in ('r', 'p', 'S') and relnamespace = 'public'::regnamespace
       and not relrowsecurity and has_table_privilege('spate_tenant', oid, 'select, insert, update, delete')`,
  )
  t.same(open.rows, [])
})

t.test('the audit log can be added to and not altered', async (t) => {
  const postgres = await freshPostgres(t)
  const { rows } = await postgres.query(
    `select privilege_type from information_schema.role_table_grants
     where grantee = 'spate_tenant' and table_name = 'organization_activity' order by 1`,
  )
  t.same(rows, [{ privilege_type: 'INSERT' }, { privilege_type: 'SELECT' }])
})

t.test('nobody of management reads the hash of a key', async (t) => {
  const postgres = await freshPostgres(t)
  const { rows } = await postgres.query(
    `select has_column_privilege('spate_tenant', 'personal_api_key', 'secure_value', 'select') as may`,
  )
  t.same(rows, [{ may: false }])
})

t.test('deleting an organization takes along everything that is its own', async (t) => {
  const postgres = await freshPostgres(t)
  const id = '00000000-0000-4000-8000-000000000001'
  await postgres.query(`insert into organization (id, name, slug) values ($1, 'One', 'one')`, [id])
  await postgres.query(
    `insert into project (id, uuid, organization_id, api_token) values (7, $1, $1, 'phc_one')`,
    [id],
  )
  await postgres.query(
    `insert into app_user (uuid, distinct_id, email, current_organization_id, current_project_id)
     values ($1, 'u', 'u@example.com', $1, 7)`,
    [id],
  )
  await postgres.query(
    `insert into membership (id, organization_id, user_id, level) select $1, $1, id, 15 from app_user`,
    [id],
  )
  await postgres.query(
    `insert into ingestion_warning values (7, 'drop', 'uuid_invalid', 1, now(), now(), '{}')`,
  )
  await postgres.query('delete from organization')
  const { rows } = await postgres.query(
    `select (select count(*) from project) as projects, (select count(*) from membership) as memberships,
            (select count(*) from ingestion_warning) as warnings,
            (select count(*) from app_user where current_project_id is null) as users`,
  )
  t.same(rows, [{ projects: 0, memberships: 0, warnings: 0, users: 1 }])
})
