-- What an administrator defines: flags, cohorts, early access features. Spate keeps all of it in memory and hears of
-- every change on the channel definitions_changed, whose payload is the project.

create table feature_flag (
  id integer generated always as identity primary key,
  project_id integer not null references project on delete cascade,
  key text collate "C" not null check (length(key) between 1 and 400),
  name text not null default '',
  -- {groups, multivariate, payloads, …} as management checked it.
  filters jsonb not null check (octet_length(filters::text) <= 262144),
  active boolean not null default true,
  deleted boolean not null default false,
  -- 1 at birth, one more for every change.
  version integer not null default 1,
  ensure_experience_continuity boolean not null default false,
  evaluation_runtime text not null default 'all' check (evaluation_runtime in ('server', 'client', 'all')),
  evaluation_tags text[] not null default '{}',
  is_remote_configuration boolean not null default false,
  has_encrypted_payloads boolean not null default false,
  bucketing_identifier text not null default 'distinct_id'
    check (bucketing_identifier in ('distinct_id', 'device_id')),
  tags text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  created_by integer references app_user on delete set null,
  last_modified_by integer references app_user on delete set null
);
create unique index feature_flag_key on feature_flag (project_id, key) where not deleted;
create index feature_flag_created_by on feature_flag (created_by);
create index feature_flag_last_modified_by on feature_flag (last_modified_by);
comment on table feature_flag is
  'Flags, the deleted ones included, which may be restored. Written by management (feature flags, early access features).';

create table cohort (
  id integer generated always as identity primary key,
  project_id integer not null references project on delete cascade,
  name text not null,
  description text not null default '',
  is_static boolean not null,
  -- {properties: tree of filters}; of a static cohort {}.
  filters jsonb not null check (octet_length(filters::text) <= 262144),
  deleted boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  created_by integer references app_user on delete set null
);
create index cohort_project on cohort (project_id, id);
create index cohort_created_by on cohort (created_by);
comment on table cohort is
  'Sets of persons, by filters or by list; the deleted ones included. Written by management (cohorts).';

-- Without foreign keys, like the other tables that hold a row for each person.
create table cohort_person (
  project_id integer not null,
  cohort_id integer not null,
  person_uuid uuid not null,
  -- Evaluation asks for the cohorts of a person.
  primary key (project_id, person_uuid, cohort_id)
);
create index cohort_person_cohort on cohort_person (cohort_id);
comment on table cohort_person is
  'Who is in a static cohort. Rows come and go by management (cohorts); the persons consumer moves them when persons merge and removes them with the person.';

create table early_access_feature (
  id uuid primary key,
  project_id integer not null references project on delete cascade,
  -- Its flag, which persons opt into; null when that is gone.
  flag_id integer references feature_flag on delete set null,
  name text not null,
  description text not null default '',
  stage text not null
    check (stage in ('draft', 'concept', 'alpha', 'beta', 'general-availability', 'archived')),
  documentation_url text not null default '',
  created_at timestamptz not null default now()
);
create index early_access_feature_project on early_access_feature (project_id, created_at);
create unique index early_access_feature_flag on early_access_feature (flag_id);
comment on table early_access_feature is
  'Features that persons may opt into, each with a flag of its own. Written by management (early access features).';

create function notify_definitions_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('definitions_changed', coalesce(new.project_id, old.project_id)::text);
  return null;
end
$$;
create trigger definitions_changed after insert or update or delete on feature_flag
  for each row execute function notify_definitions_changed();
create trigger definitions_changed after insert or update or delete on cohort
  for each row execute function notify_definitions_changed();
create trigger definitions_changed after insert or update or delete on early_access_feature
  for each row execute function notify_definitions_changed();
create trigger definitions_changed after insert or update or delete on group_type
  for each row execute function notify_definitions_changed();

-- A project that has defined nothing is to be known as well.
create function notify_project_definitions_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('definitions_changed', coalesce(new.id, old.id)::text);
  return null;
end
$$;
create trigger definitions_changed after insert or delete on project
  for each row execute function notify_project_definitions_changed();
