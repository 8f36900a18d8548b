-- The second wall between tenants. Management runs its statements as the role spate_tenant, with the tenants that the
-- request may touch in three settings of its transaction; a row of any other tenant is not there for it, whatever a
-- statement's where clause says or forgets. Everything else (authentication, bootstrap, the persons consumer) works as
-- the owner of the tables, for whom there are no walls.
--
-- The role is made before the migrations run. A table that belongs to a tenant calls build_wall once, in the migration
-- that makes it.

grant usage on schema public to spate_tenant;

create function spate_organizations() returns uuid[] language sql stable parallel safe as $$
  select coalesce(nullif(current_setting('spate.organizations', true), ''), '{}')::uuid[]
$$;
comment on function spate_organizations() is 'Organizations that this transaction may touch.';

create function spate_project_limit() returns integer[] language sql stable parallel safe as $$
  select nullif(current_setting('spate.projects', true), '')::integer[]
$$;
comment on function spate_project_limit() is
  'Projects that this transaction may touch; null for all of its organizations.';

-- As the owner, whose look at the table project has no wall that would ask this again.
create function spate_projects() returns integer[] language sql stable parallel safe security definer
set search_path from current as $$
  select coalesce(spate_project_limit(),
    array(select id from project where organization_id = any (spate_organizations())))
$$;
comment on function spate_projects() is 'Projects that this transaction may touch.';

create function spate_user() returns integer language sql stable parallel safe as $$
  select nullif(current_setting('spate.user', true), '')::integer
$$;
comment on function spate_user() is 'The user on whose behalf this transaction runs.';

-- The functions stand in selects of their own so that they run once a statement, not once a row.
create function build_wall(tenant_table regclass, privileges text default 'select, insert, update, delete')
returns void language plpgsql as $$
declare
  walls text[] := '{}';
begin
  if exists (select from pg_attribute where attrelid = tenant_table and attname = 'organization_id') then
    walls := array_append(walls, 'organization_id = any ((select spate_organizations())::uuid[])');
  end if;
  if exists (select from pg_attribute where attrelid = tenant_table and attname = 'project_id') then
    walls := array_append(walls, 'project_id = any ((select spate_projects())::integer[])');
  end if;
  execute format('alter table %s enable row level security', tenant_table);
  execute format('create policy tenant on %s to spate_tenant using (%s)',
    tenant_table, array_to_string(walls, ' and '));
  if privileges <> '' then
    execute format('grant %s on %s to spate_tenant', privileges, tenant_table);
  end if;
end
$$;
comment on function build_wall(regclass, text) is
  'Shows rows of tenant_table to spate_tenant by their organization_id, project_id or both; privileges is what management may do with them.';

select build_wall('membership');
select build_wall('ingestion_warning', 'select');
select build_wall('person', 'select');
select build_wall('person_distinct_id', 'select');
select build_wall('project_group', 'select');
select build_wall('group_type', 'select, update');
select build_wall('person_override', 'select');
select build_wall('person_tombstone', 'select');
select build_wall('flag_hash_key_override', 'select, insert');
select build_wall('usage_daily', 'select');
select build_wall('feature_flag');
select build_wall('cohort');
select build_wall('cohort_person');
select build_wall('early_access_feature');
select build_wall('store_change', '');
select build_wall('person_quarantine', '');

alter table organization enable row level security;
create policy tenant on organization to spate_tenant using (id = any ((select spate_organizations())::uuid[]));
grant select, insert, update, delete on organization to spate_tenant;

alter table project enable row level security;
create policy tenant on project to spate_tenant using (
  organization_id = any ((select spate_organizations())::uuid[])
  and ((select spate_project_limit()) is null or id = any ((select spate_project_limit())::integer[])));
grant select, insert, update, delete on project to spate_tenant;

-- People are seen by those who share an organization with them.
alter table app_user enable row level security;
create policy tenant on app_user to spate_tenant using (
  id = (select spate_user()) or exists (select from membership where membership.user_id = app_user.id));
grant select, update on app_user to spate_tenant;

-- Keys are their owner's alone; those who share an organization may see that there are some. Nobody sees their hashes.
alter table personal_api_key enable row level security;
create policy tenant on personal_api_key to spate_tenant using (user_id = (select spate_user()));
create policy colleague on personal_api_key for select to spate_tenant using (
  exists (select from membership where membership.user_id = personal_api_key.user_id));
grant insert, update, delete on personal_api_key to spate_tenant;
grant select (id, user_id, label, mask_value, scopes, scoped_organizations, scoped_teams, created_at, last_used_at,
  expires_at, revoked_at) on personal_api_key to spate_tenant;
