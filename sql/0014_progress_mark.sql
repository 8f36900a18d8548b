-- A data folder that was copied goes on as a journal of its own, with the epoch of the first: what tells the two apart is
-- the records themselves. So the place in each lane comes with a mark of the last record that was applied there. Null
-- before a version that knows of it has applied one.
alter table persons_progress
  add column realtime_record bigint,
  add column realtime_checksum bigint,
  add column historical_record bigint,
  add column historical_checksum bigint;
comment on column persons_progress.realtime_record is 'Position of the last record that was applied.';
comment on column persons_progress.realtime_checksum is 'Of its payload.';
