-- The walls of sql/0004 for organizations with many projects. What they let through stays as it was.

-- A stable function in a condition runs for each row, in a select of its own once. The planner asks this one, too.
create or replace function spate_projects() returns integer[] language sql stable parallel safe security definer
set search_path from current as $$
  select coalesce(spate_project_limit(),
    array(select id from project
      where organization_id = any ((select spate_organizations())::uuid[])
        and (not access_control or exists (select from project_entrance
          where project_entrance.project_id = project.id and user_id = (select spate_user())))))
$$;

create or replace function spate_closed_projects() returns integer[] language sql stable parallel safe security definer
set search_path from current as $$
  select array(select id from project
    where organization_id = any ((select spate_organizations())::uuid[]) and access_control
      and not exists (select from project_entrance
        where project_entrance.project_id = project.id and user_id = (select spate_user())))
$$;

-- `= any (array)` looks through the array for each row; a subselect that does not depend on the row becomes a hash
-- table once a statement.
create or replace function build_wall(tenant_table regclass, privileges text default 'select, insert, update, delete')
returns void language plpgsql as $$
declare
  walls text[] := '{}';
begin
  if exists (select from pg_attribute where attrelid = tenant_table and attname = 'organization_id') then
    walls := array_append(walls, 'organization_id = any ((select spate_organizations())::uuid[])');
  end if;
  if exists (select from pg_attribute where attrelid = tenant_table and attname = 'project_id') then
    walls := array_append(walls, 'project_id in (select unnest(spate_projects()))');
  end if;
  execute format('alter table %s enable row level security', tenant_table);
  execute format('create policy tenant on %s to spate_tenant using (%s)',
    tenant_table, array_to_string(walls, ' and '));
  if privileges <> '' then
    execute format('grant %s on %s to spate_tenant', privileges, tenant_table);
  end if;
end
$$;

do $$
declare
  walled text;
begin
  for walled in
    select tablename from pg_policies where schemaname = current_schema() and policyname = 'tenant'
      and qual ~ '^\(project_id = ANY \(\( SELECT spate_projects\(\)'
  loop
    execute format('alter policy tenant on %I using (project_id in (select unnest(spate_projects())))', walled);
  end loop;
end
$$;

alter policy tenant on organization_activity using (
  organization_id = any ((select spate_organizations())::uuid[])
  and (project_id is null or project_id not in (select unnest(spate_closed_projects()))));
