-- What running batch exports need. Every interval of an export owns a stretch of what is stored; where a stretch
-- begins and ends is written in the words of src/exports/boundary.ts, null being the beginning of everything.

alter table batch_export
  -- The end of the last interval that a run of the schedule was made for, and where its stretch ends.
  add planned_until timestamptz,
  add planned_end text,
  -- When the export was last unpaused: intervals that ended before are no longer the schedule's.
  add resumed_at timestamptz;

create function mark_batch_export_resumed() returns trigger language plpgsql as $$
begin
  new.resumed_at := new.last_updated_at;
  return new;
end
$$;
create trigger batch_export_resumed before update on batch_export
  for each row when (old.paused and not new.paused) execute function mark_batch_export_resumed();

alter table batch_export_run
  add stretch_start text,
  -- Null until the run is planned, which is when its row is made.
  add stretch_end text,
  -- What the rows of its chunks look like and where they go, as a digest; null before the first attempt.
  add shape text,
  add started_at timestamptz,
  -- Since when nothing could be delivered; null while it can.
  add failing_since timestamptz,
  -- Attempts since something was delivered: those that failed, and those that the process did not survive.
  add attempts integer not null default 0,
  add crashes integer not null default 0,
  add is_at_work boolean not null default false,
  add bytes_exported bigint check (bytes_exported >= 0);
create index batch_export_run_interval on batch_export_run (batch_export_id, data_interval_end);
create index batch_export_run_open on batch_export_run (created_at) where finished_at is null;
create index batch_export_backfill_open on batch_export_backfill (created_at) where finished_at is null;

create table batch_export_chunk (
  run_id uuid not null references batch_export_run on delete cascade,
  index integer not null,
  project_id integer not null references project on delete cascade,
  record_count bigint not null,
  bytes bigint not null,
  primary key (run_id, index)
);
create index batch_export_chunk_project on batch_export_chunk (project_id);
comment on table batch_export_chunk is
  'What a run has delivered, for good. Written by exports, together with the cursor of the run.';
select build_wall('batch_export_chunk', 'select, insert');

-- A run that is at work hears at once that it has been cancelled, or deleted with its export.
create function tell_batch_export_run() returns trigger language plpgsql as $$
begin
  perform pg_notify('batch_export', old.id::text);
  return null;
end
$$;
create trigger batch_export_run_cancelled after update of status on batch_export_run
  for each row when (new.status = 'Cancelled' and old.status <> 'Cancelled')
  execute function tell_batch_export_run();
create trigger batch_export_run_deleted after delete on batch_export_run
  for each row execute function tell_batch_export_run();

-- Backfills are looked for when one is there, and now and then.
create function tell_batch_export_backfill() returns trigger language plpgsql as $$
begin
  perform pg_notify('batch_export', 'plan');
  return null;
end
$$;
create trigger batch_export_backfill_started after insert on batch_export_backfill
  for each row execute function tell_batch_export_backfill();
