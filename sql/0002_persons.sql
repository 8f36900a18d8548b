-- Who is who: persons, their distinct_ids, groups, and what the events store must hear of. The persons consumer writes
-- all of it from the journal, in transactions that move its offset along. Rows go with their project by its journaled
-- deletion; the large tables have no foreign key, which would cost every insert.

create table person (
  project_id integer not null,
  -- The id its first distinct_id was born to.
  uuid uuid not null,
  created_at timestamptz not null,
  is_identified boolean not null,
  -- 0 at birth, one more for every event that changed the person.
  version bigint not null,
  properties jsonb not null,
  -- Of the properties as text: what loading the row takes in memory.
  properties_bytes integer not null,
  primary key (project_id, uuid)
) partition by hash (project_id, uuid);
comment on table person is 'Persons. Written by the persons consumer.';

create table person_distinct_id (
  project_id integer not null,
  distinct_id text collate "C" not null,
  person_uuid uuid not null,
  primary key (project_id, distinct_id)
) partition by hash (project_id, distinct_id);
create index person_distinct_id_person on person_distinct_id (project_id, person_uuid);
comment on table person_distinct_id is 'Whose id is whose. Written by the persons consumer.';

create table project_group (
  project_id integer not null,
  type_index smallint not null check (type_index between 0 and 4),
  key text collate "C" not null,
  created_at timestamptz not null,
  -- 1 at birth, one more for every event that changed the group.
  version bigint not null,
  properties jsonb not null,
  -- Of the properties as text: what loading the row takes in memory.
  properties_bytes integer not null,
  primary key (project_id, type_index, key)
) partition by hash (project_id, type_index, key);
comment on table project_group is 'Groups. Written by the persons consumer.';

-- Large values of a table share one space of 32-bit ids, which becomes slow long before it is full: every partition
-- has its own. Room is left in the pages of what is updated often.
do $$
begin
  for part in 0..15 loop
    execute format('create table person_%s partition of person for values with (modulus 16, remainder %s)
      with (fillfactor = 85)', part, part);
  end loop;
  for part in 0..7 loop
    execute format('create table person_distinct_id_%s partition of person_distinct_id
      for values with (modulus 8, remainder %s)', part, part);
    execute format('create table project_group_%s partition of project_group
      for values with (modulus 8, remainder %s) with (fillfactor = 85)', part, part);
  end loop;
end
$$;

create table group_type (
  project_id integer not null references project on delete cascade,
  type_index smallint not null check (type_index between 0 and 4),
  name text collate "C" not null,
  name_singular text,
  name_plural text,
  primary key (project_id, type_index),
  unique (project_id, name)
);
comment on table group_type is
  'Kinds of groups, in the order they were first named. Written by the persons consumer; their readable names by management.';

create table person_override (
  project_id integer not null,
  born_id uuid not null,
  person_uuid uuid not null,
  primary key (project_id, born_id)
);
comment on table person_override is
  'Events born to born_id belong to person_uuid; itself once that person was deleted. Written by the persons consumer.';

create table person_tombstone (
  project_id integer not null,
  born_id uuid not null,
  deleted_at timestamptz not null,
  primary key (project_id, born_id)
);
comment on table person_tombstone is
  'Events born to born_id and received up to deleted_at are gone for every read. Written by the persons consumer.';

create table flag_hash_key_override (
  project_id integer not null,
  distinct_id text collate "C" not null,
  flag_key text collate "C" not null,
  hash_key text not null,
  -- The oldest among a person's ids holds.
  seq bigint generated always as identity,
  primary key (project_id, distinct_id, flag_key)
);
comment on table flag_hash_key_override is
  'What a flag was bucketed by before an id was identified. Inserted by flags and never changed; removed by the persons consumer with the id.';

create table usage_daily (
  project_id integer not null references project on delete cascade,
  -- UTC, by the time the events were received.
  day date not null,
  billable bigint not null,
  historical bigint not null,
  primary key (project_id, day)
);
comment on table usage_daily is 'Events applied a day; duplicates are not counted. Written by the persons consumer.';

create table store_change (
  epoch uuid not null,
  -- From 1 on without gaps, in the order of the changes.
  seq bigint not null,
  project_id integer not null,
  kind text not null check (kind in ('override', 'group_type', 'person_tombstone')),
  payload jsonb not null,
  primary key (epoch, seq)
);
comment on table store_change is
  'Outbox: what the events store must hear of, beside the tables that say the same. Written by the persons consumer.';

create table persons_progress (
  only_row boolean primary key default true check (only_row),
  -- Of the journal that is applied.
  epoch uuid not null,
  -- The next event to apply in each lane: event `index` of the record at `position`.
  realtime_position bigint not null default 0,
  realtime_index integer not null default 0,
  historical_position bigint not null default 0,
  historical_index integer not null default 0,
  -- Epoch of store_change, and its last seq.
  change_epoch uuid not null default gen_random_uuid(),
  change_seq bigint not null default 0
);
comment on table persons_progress is
  'How far the persons consumer is, moved along by each of its transactions. Written by the persons consumer.';

create table person_quarantine (
  project_id integer not null,
  uuid uuid not null,
  lane text not null,
  position bigint not null,
  index integer not null,
  error text not null,
  -- Name of the file in DATA_DIR/quarantine that holds the event.
  file text not null,
  quarantined_at timestamptz not null,
  primary key (lane, position, index)
);
comment on table person_quarantine is
  'Events whose effect on persons could not be stored. Written by the persons consumer.';

create table person_gap (
  lane text not null,
  position bigint not null,
  -- The first position behind it.
  gap_end bigint not null,
  found_at timestamptz not null,
  primary key (lane, position)
);
comment on table person_gap is
  'Damaged stretches of the journal that the persons consumer passed over. Written by the persons consumer.';
