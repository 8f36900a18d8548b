-- The events store. The events thread is its only reader and writer, and everything in it is written by INSERT: no
-- keys, no indexes, no UPDATE or DELETE, no DDL while events are loaded (every known corruption of DuckDB involves
-- one of them).
--
-- Lanes are 0 (realtime) and 1 (historical). (lane, position, index) is where an event stands in the journal: the
-- record's byte address and the event's place in the record. It identifies a row for ever.

-- One row an event, in journal order. Written by the loader. NOT NULL is a guard: columns arrive as texts that are
-- split, and a text with too few or too many pieces would leave NULLs at the end instead of shifting values silently.
create table event (
  project_id integer not null,
  uuid uuid not null,
  event varchar not null,
  distinct_id varchar not null,
  -- The person the event was born to: a function of project and distinct_id alone.
  born_id uuid not null,
  timestamp timestamptz not null,
  received_at timestamptz not null,
  properties json using compression zstd not null,
  elements_chain varchar not null,
  historical boolean not null,
  anonymous boolean not null,
  lane utinyint not null,
  position bigint not null,
  index uinteger not null
);

-- How far each lane is applied: the next event is the one at (position, index). Written by the loader in the
-- transaction of the rows it speaks of; the largest row of a lane counts.
create table progress (
  epoch uuid not null,
  lane utinyint not null,
  position bigint not null,
  index uinteger not null,
  event_count uinteger not null,
  duplicate_count uinteger not null,
  quarantine_count uinteger not null,
  applied_at timestamptz not null
);

-- Events that DuckDB cannot hold. Written by the loader in the place of the row; the event itself is in `file`,
-- below the quarantine folder.
create table quarantine (
  project_id integer not null,
  uuid uuid not null,
  lane utinyint not null,
  position bigint not null,
  index uinteger not null,
  error varchar not null,
  file varchar not null,
  set_aside_at timestamptz not null
);

-- Damaged stretches of the journal that the loader passed over. Written by the loader.
create table gap (
  lane utinyint not null,
  position bigint not null,
  end_position bigint not null,
  found_at timestamptz not null
);

-- Tombstones: rows of these projects are gone for every read, whenever they arrived. Written by the loader when it
-- applies the command.
create table deleted_project (
  project_id integer not null,
  deleted_at timestamptz not null
);

-- What reads see. Everything that reads events reads this view: it hides what is deleted and knows whose event it is.
create view events as
select
  rowid as row_id,
  project_id,
  uuid,
  event,
  distinct_id,
  born_id as person_id,
  timestamp,
  received_at,
  properties,
  elements_chain,
  historical,
  anonymous,
  lane,
  position,
  index
from event
where project_id not in (select project_id from deleted_project);
