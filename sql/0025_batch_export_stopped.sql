-- An interval that has ended is exported, however soon its export was paused.

alter table batch_export
  -- When the export was last paused: intervals that ended by then are still the schedule's.
  add stopped_at timestamptz;

create function mark_batch_export_stopped() returns trigger language plpgsql as $$
begin
  new.stopped_at := new.last_updated_at;
  return new;
end
$$;
create trigger batch_export_stopped before update on batch_export
  for each row when (new.paused and not old.paused) execute function mark_batch_export_stopped();
