-- How many persons a cohort with filters holds, as it was counted last. Apart from the cohort, whose every change is
-- told to those who evaluate it.

create table cohort_count (
  cohort_id integer primary key references cohort on delete cascade,
  project_id integer not null references project on delete cascade,
  count bigint not null,
  -- When counting began.
  counted_at timestamptz not null
);
create index cohort_count_project on cohort_count (project_id);
comment on table cohort_count is 'Members of cohorts that are not static. Written by management (cohort counts).';

select build_wall('cohort_count', 'select');
