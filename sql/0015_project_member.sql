-- Levels in single projects become a resource of their own: explicit members, who have an id and are changed.

alter table project_access add column id uuid not null default gen_random_uuid() unique,
  add column updated_at timestamptz not null default now();
update project_access set updated_at = created_at;
comment on table project_access is
  'Levels in single projects beside the membership. Written by management: explicit members, and invites that are accepted.';
