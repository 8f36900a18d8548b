-- Private projects: one with access_control is entered by administrators and owners of its organization and by members
-- with a row in project_access. To anybody else it does not exist. The view project_entrance is the one place that
-- decides it; the walls of sql/0004 and everything that asks as the owner of the tables ask it.

create index project_private on project (organization_id) where access_control;

create view project_entrance as
  select project.id as project_id, project.organization_id, membership.user_id,
    membership.level as organization_level,
    case when project.access_control then greatest(membership.level, project_access.level)
      else membership.level end as level
  from project
  join membership on membership.organization_id = project.organization_id
  left join project_access on project_access.project_id = project.id and project_access.user_id = membership.user_id
  where not project.access_control or membership.level >= 8 or project_access.level is not null;
comment on view project_entrance is
  'Who may enter which project, and at which level: the higher one of the organization and of a private project itself.';

create function spate_project_level(project_id integer) returns smallint language sql stable parallel safe
security definer set search_path from current as $$
  select level from project_entrance
  where project_entrance.project_id = spate_project_level.project_id and user_id = spate_user()
$$;
comment on function spate_project_level(integer) is
  'Level in a project of the user on whose behalf this transaction runs; null for one that is closed to the user.';

-- As what is closed, not what is open: a project that the statement is about to make is in neither.
create function spate_closed_projects() returns integer[] language sql stable parallel safe security definer
set search_path from current as $$
  select array(select id from project
    where organization_id = any (spate_organizations()) and access_control
      and not exists (select from project_entrance
        where project_entrance.project_id = project.id and user_id = spate_user()))
$$;
comment on function spate_closed_projects() is
  'Projects of the organizations of this transaction that its user may not enter.';

create or replace function spate_projects() returns integer[] language sql stable parallel safe security definer
set search_path from current as $$
  select coalesce(spate_project_limit(),
    array(select id from project
      where organization_id = any (spate_organizations()) and id <> all (spate_closed_projects())))
$$;

alter policy tenant on project using (
  organization_id = any ((select spate_organizations())::uuid[])
  and ((select spate_project_limit()) is null or id = any ((select spate_project_limit())::integer[]))
  and id <> all ((select spate_closed_projects())::integer[]));

-- What happened in a private project is told to those who may enter it. The project may be gone since.
alter table organization_activity add project_id integer;
update organization_activity set project_id = item_id::integer where scope = 'Project';
update organization_activity set project_id = item.project_id
  from (
    select 'FeatureFlag' as scope, id::text, project_id from feature_flag
    union all select 'Cohort', id::text, project_id from cohort
    union all select 'EarlyAccessFeature', id::text, project_id from early_access_feature
    union all select 'BatchExport', id::text, project_id from batch_export
  ) item
  where organization_activity.scope = item.scope and organization_activity.item_id = item.id;
alter policy tenant on organization_activity using (
  organization_id = any ((select spate_organizations())::uuid[])
  and (project_id is null or project_id <> all ((select spate_closed_projects())::integer[])));

-- A level in a project goes with the membership.
delete from project_access using project
  where project.id = project_access.project_id and not exists (select from membership
    where membership.organization_id = project.organization_id and membership.user_id = project_access.user_id);
