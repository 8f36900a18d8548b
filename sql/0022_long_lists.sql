-- Lists of many rows: what counts a list and what finds a page of it look into these indexes alone. They have the
-- order of the list, and beside it what the walls ask of each row.

drop index organization_activity_newest;
create index organization_activity_newest on organization_activity (organization_id, created_at desc, id desc)
  include (project_id);
create index organization_activity_of_kind on organization_activity (project_id, scope, created_at desc, id desc)
  include (organization_id);

drop index batch_export_run_newest;
create index batch_export_run_newest on batch_export_run (batch_export_id, created_at desc, id desc)
  include (project_id);
drop index batch_export_backfill_newest;
create index batch_export_backfill_newest on batch_export_backfill (batch_export_id, created_at desc, id desc)
  include (project_id);
drop index batch_export_log_newest;
create index batch_export_log_newest on batch_export_log (batch_export_id, timestamp desc, id desc)
  include (project_id);

-- Members that do not count as such: management/organization-rows.ts.
create index app_user_uncounted on app_user (id) where not is_active or email like '%@posthogbot.user';
