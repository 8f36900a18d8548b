-- A database that was restored from a backup counts its changes on from there, and so may give a number twice. The
-- mark tells the two apart: whoever has applied a change compares it before reading on.
alter table store_change add column mark uuid not null default gen_random_uuid();
