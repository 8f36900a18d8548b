-- Batch exports as people manage them, and what becomes of them: runs, backfills, log.

create table batch_export (
  id uuid primary key,
  project_id integer not null references project on delete cascade,
  name text not null,
  model text not null default 'events' check (model in ('events', 'persons', 'sessions')),
  destination_type text not null,
  -- As it was sent, without secrets.
  destination_config jsonb not null,
  -- The secrets of the config as JSON, sealed; null when there are none.
  destination_secrets text,
  interval text not null check (interval in ('hour', 'day', 'week', 'every 5 minutes')),
  paused boolean not null default false,
  created_at timestamptz not null,
  last_updated_at timestamptz not null,
  last_paused_at timestamptz,
  start_at timestamptz,
  end_at timestamptz,
  -- As it was sent, and what it makes of an event.
  hogql_query text,
  query_schema jsonb,
  filters jsonb
);
create index batch_export_newest on batch_export (project_id, created_at desc, id desc);
comment on table batch_export is 'Scheduled exports of a project. Written by management (batch exports).';

create table batch_export_backfill (
  id uuid primary key,
  project_id integer not null references project on delete cascade,
  batch_export_id uuid not null references batch_export on delete cascade,
  -- Null: from the beginning; without end.
  start_at timestamptz,
  end_at timestamptz,
  status text not null check (status in ('Cancelled', 'Completed', 'ContinuedAsNew', 'Failed', 'FailedRetryable',
    'Terminated', 'TimedOut', 'Running', 'Starting')),
  -- Null when it is not known beforehand.
  total_runs integer,
  created_at timestamptz not null,
  finished_at timestamptz,
  last_updated_at timestamptz not null
);
create index batch_export_backfill_newest on batch_export_backfill (batch_export_id, created_at desc, id desc);
create index batch_export_backfill_project on batch_export_backfill (project_id);
comment on table batch_export_backfill is
  'Past time to be exported. Started and cancelled by management (backfills, unpause, retry of a run).';

create table batch_export_run (
  id uuid primary key,
  project_id integer not null references project on delete cascade,
  batch_export_id uuid not null references batch_export on delete cascade,
  -- The backfill it belongs to; null for a run of the schedule.
  backfill_id uuid references batch_export_backfill on delete set null,
  status text not null check (status in ('Cancelled', 'Completed', 'ContinuedAsNew', 'Failed', 'FailedRetryable',
    'FailedBilling', 'Terminated', 'TimedOut', 'Running', 'Starting')),
  records_completed bigint check (records_completed >= 0),
  records_total_count bigint check (records_total_count >= 0),
  latest_error text,
  -- [start, end); a start of null is the beginning.
  data_interval_start timestamptz,
  data_interval_end timestamptz,
  cursor text,
  created_at timestamptz not null,
  finished_at timestamptz,
  last_updated_at timestamptz not null
);
create index batch_export_run_newest on batch_export_run (batch_export_id, created_at desc, id desc);
create index batch_export_run_backfill on batch_export_run (backfill_id);
create index batch_export_run_project on batch_export_run (project_id);
comment on table batch_export_run is
  'One interval of an export on its way. Cancelled by management (runs), with its backfill or alone.';

create table batch_export_log (
  id bigint generated always as identity primary key,
  project_id integer not null references project on delete cascade,
  batch_export_id uuid not null references batch_export on delete cascade,
  -- The run that says it, as text; empty when none does.
  instance_id text not null default '',
  level text not null check (level in ('DEBUG', 'LOG', 'INFO', 'WARNING', 'ERROR')),
  message text not null,
  timestamp timestamptz not null
);
create index batch_export_log_newest on batch_export_log (batch_export_id, timestamp desc, id desc);
create index batch_export_log_project on batch_export_log (project_id);
comment on table batch_export_log is 'What exports say of themselves, for people. Added to by runs, and by management when it cancels.';

select build_wall('batch_export');
select build_wall('batch_export_backfill', 'select, insert, update');
select build_wall('batch_export_run', 'select, update');
select build_wall('batch_export_log', 'select, insert');
