-- Projects whose rows are gone and whose events and persons are to go as well.

create table project_deletion (
  project_id integer primary key,
  deleted_at timestamptz not null
);
comment on table project_deletion is
  'Outbox of delete_project commands. Written by management in the transaction that deletes a project, emptied when the journal has the command for the last time.';

select build_wall('project_deletion', 'insert');
