-- The secret keys of a project, for servers that evaluate its flags by themselves: one, and the one before it for as
-- long as some server still has that.

create table project_secret_key (
  project_id integer not null references project on delete cascade,
  is_backup boolean not null,
  -- "sha256$" and the hex hash of the whole key, which is shown when it is made and stored nowhere.
  secure_value text not null unique,
  mask_value text not null,
  created_at timestamptz not null,
  primary key (project_id, is_backup)
);
comment on table project_secret_key is 'Project secret API keys. Written by management (project secret).';

-- Nobody who asks as a tenant sees a hash.
select build_wall('project_secret_key', 'insert, update, delete');
grant select (project_id, is_backup, mask_value, created_at) on project_secret_key to spate_tenant;
