-- Management puts persons into static cohorts while the persons consumer merges and deletes them. It holds their rows
-- meanwhile, which nobody may who may not write them: hence a function that runs as their owner. One that is being
-- deleted at this moment counts as gone; waiting for it could end with each waiting for the other.
create function hold_persons(wanted_project integer, wanted uuid[]) returns setof uuid
language sql security definer set search_path from current as $$
  select uuid from person
  where project_id = wanted_project and uuid = any (wanted) and wanted_project = any (spate_projects())
  for key share skip locked
$$;
comment on function hold_persons(integer, uuid[]) is
  'Those of the wanted persons that exist; they stay until the transaction ends.';
