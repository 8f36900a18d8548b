-- Invitations into an organization, and what a member may do in single projects beyond the membership.

create table organization_invite (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  -- As written, with the domain in lower case.
  target_email text not null,
  first_name text not null default '',
  level smallint not null default 1 check (level in (1, 8, 15)),
  message text,
  -- [{id, level}]
  private_project_access jsonb default '[]',
  send_email boolean not null default true,
  combine_pending_invites boolean not null default false,
  emailing_attempt_made boolean not null default false,
  -- "sha256$" and the hex hash of the token in the mail, which is stored nowhere else and accepts the invite once.
  token_hash text not null unique,
  created_by integer references app_user on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index organization_invite_newest on organization_invite (organization_id, created_at desc, id desc);
create index organization_invite_email on organization_invite (organization_id, lower(target_email));
create index organization_invite_created_by on organization_invite (created_by);
comment on table organization_invite is
  'Who may become a member of an organization. Written by management (invites); a row goes when it is accepted.';

-- Nobody who asks as a tenant sees a hash.
select build_wall('organization_invite', 'insert, delete');
grant select (id, organization_id, target_email, first_name, level, message, private_project_access, send_email,
  combine_pending_invites, emailing_attempt_made, created_by, created_at, updated_at)
  on organization_invite to spate_tenant;

create table project_access (
  project_id integer not null references project on delete cascade,
  user_id integer not null references app_user on delete cascade,
  level smallint not null check (level in (1, 8)),
  created_at timestamptz not null,
  primary key (project_id, user_id)
);
create index project_access_user on project_access (user_id);
comment on table project_access is
  'Levels in single projects that an invite brought beside the membership. Written by management when an invite is accepted.';

select build_wall('project_access');
