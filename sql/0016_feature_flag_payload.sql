-- Payloads of remote configuration that nobody reads with the flag.

create table feature_flag_payload (
  id uuid primary key,
  project_id integer not null references project on delete cascade,
  flag_id integer not null references feature_flag on delete cascade,
  -- `true` or the key of a variant; the flag's filters have a text at its place that stands for it.
  value_key text not null,
  -- JSON, sealed.
  payload text not null check (octet_length(payload) <= 400000),
  unique (flag_id, value_key)
);
create index feature_flag_payload_project on feature_flag_payload (project_id);
comment on table feature_flag_payload is
  'Encrypted payloads of feature flags. Written by management (feature flags).';

select build_wall('feature_flag_payload');
