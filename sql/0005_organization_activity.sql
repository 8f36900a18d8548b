-- Who changed what in an organization. Rows are added in the transaction of the change and never altered.

create table organization_activity (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  -- Null when it was not a person, or the person is gone.
  user_id integer references app_user on delete set null,
  -- Of the personal API key, which may be gone.
  key_id text,
  -- Where the request came from, by the rule of the rate limits; null from the command line.
  address text,
  activity text not null,
  -- The kind of thing, in the words of the API: "Organization", "FeatureFlag".
  scope text not null,
  item_id text not null,
  -- {changes: [{field, before, after}]}, without secrets.
  detail jsonb not null,
  created_at timestamptz not null
);
create index organization_activity_newest on organization_activity (organization_id, created_at desc, id desc);
create index organization_activity_user on organization_activity (user_id);
comment on table organization_activity is
  'Audit log. Added to by every operation of management that changes something; never changed or shortened.';

select build_wall('organization_activity', 'select, insert');
