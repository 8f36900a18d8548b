-- A step of the persons consumer may be larger than a page of the mirror. What is here of such a step is not read before
-- its last page: reads see changes up to the place of the newest row of `mirror` that lacks nothing.

-- Where the row came from in the outbox; 0 in a base, and for rows from before this column.
alter table person_tombstone add column seq bigint default 0;
alter table group_type add column seq bigint default 0;

-- What reads see, as 0002_mirror.sql says it, up to that place: which costs nothing that could be measured.
create or replace view events as
select
  event.rowid as row_id,
  event.project_id,
  event.uuid,
  event.event,
  event.distinct_id,
  coalesce(change.person_id, base.person_id, event.born_id) as person_id,
  event.timestamp,
  event.received_at,
  case
    when event.anonymous or kinds.names is null or not contains(event.properties::varchar, '"$groups"')
      then event.properties
    else with_groups(event.properties, kinds.names)
  end as properties,
  event.elements_chain,
  event.historical,
  event.anonymous,
  event.lane,
  event.position,
  event.index
from event
left join (
  select project_id, born_id, person_id
  from person_override
  where generation = (select max(generation) from mirror where rest is null)
) base on base.project_id = event.project_id and base.born_id = event.born_id
left join (
  select project_id, born_id, arg_max(person_id, seq) as person_id
  from person_override_change
  where generation = (select max(generation) from mirror where rest is null)
    and seq <= (select max(seq) from mirror
      where rest is null and generation = (select max(generation) from mirror where rest is null))
  group by project_id, born_id
) change on change.project_id = event.project_id and change.born_id = event.born_id
left join (
  select project_id, born_id, max(deleted_at) as deleted_at
  from person_tombstone
  where generation = (select max(generation) from mirror where rest is null)
    and seq <= (select max(seq) from mirror
      where rest is null and generation = (select max(generation) from mirror where rest is null))
  group by project_id, born_id
) tombstone on tombstone.project_id = event.project_id and tombstone.born_id = event.born_id
left join (
  select project_id, [max(name) filter (index = 0), max(name) filter (index = 1), max(name) filter (index = 2),
    max(name) filter (index = 3), max(name) filter (index = 4)] as names
  from group_type
  where generation = (select max(generation) from mirror where rest is null)
    and seq <= (select max(seq) from mirror
      where rest is null and generation = (select max(generation) from mirror where rest is null))
  group by project_id
) kinds on kinds.project_id = event.project_id
where event.project_id not in (select project_id from deleted_project)
  and (tombstone.deleted_at is null or event.received_at > tombstone.deleted_at);
