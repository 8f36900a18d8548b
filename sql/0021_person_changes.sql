-- Exports of persons take what has changed in an interval. Every step of the persons consumer has a time of its own,
-- later than that of the step before whatever the clock does, and writes it beside the rows that it changes. There is no
-- index on it: one would have every change of a person write to its indexes too.

alter table persons_progress add column changed_at timestamptz not null default now();
alter table persons_progress alter column changed_at set default 'epoch';
comment on column persons_progress.changed_at is 'The time of the last step.';

-- What is there already counts as changed now.
alter table person add column changed_at timestamptz not null default now();
alter table person_distinct_id
  -- 0 at birth, one more each time that the id goes to another person.
  add column version bigint not null default 0,
  add column changed_at timestamptz not null default now();

create table person_distinct_id_deleted (
  project_id integer not null,
  distinct_id text collate "C" not null,
  person_uuid uuid not null,
  version bigint not null,
  changed_at timestamptz not null,
  primary key (project_id, distinct_id)
);
comment on table person_distinct_id_deleted is
  'Ids that went with their person, of projects that export persons. Written by the persons consumer, emptied by exports.';
select build_wall('person_distinct_id_deleted', 'select');
