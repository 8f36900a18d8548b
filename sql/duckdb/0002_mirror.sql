-- The mirror: what Postgres knows of persons and of kinds of groups, as far as reading events needs it. The persons
-- consumer tells of it in an outbox; the events thread appends what it is sent, with its place in the outbox, in one
-- transaction. Like everything here it is written by INSERT alone.
--
-- A generation is a whole copy: a base, which comes from the tables in Postgres or from the generation before, and
-- the changes since. Reads use the newest generation whose base is complete.

-- How far the mirror is. Written by the events thread in the transaction of the rows it speaks of; the row of the
-- newest generation with the highest seq, and of those the last step, counts.
create table mirror (
  generation integer not null,
  -- Counts the rows of a generation.
  step bigint not null,
  -- The place in the outbox: all changes up to seq are here.
  epoch uuid not null,
  seq bigint not null,
  -- What the change with that seq is marked with there; another mark is another history. NULL where seq is 0.
  mark uuid,
  -- What the base lacks, in the words of whoever copies it; NULL once it is complete.
  rest varchar,
  applied_at timestamptz not null
);

-- Events born to born_id belong to person_id: one row an id in a generation's base. Written by the events thread.
create table person_override (
  generation integer not null,
  project_id integer not null,
  born_id uuid not null,
  person_id uuid not null
);

-- The same, changed since: the highest seq of an id counts, before the base. Written by the events thread.
create table person_override_change (
  generation integer not null,
  seq bigint not null,
  project_id integer not null,
  born_id uuid not null,
  person_id uuid not null
);

-- Events born to born_id and received up to deleted_at are gone; an id may have several rows. Written by the events
-- thread.
create table person_tombstone (
  generation integer not null,
  project_id integer not null,
  born_id uuid not null,
  deleted_at timestamptz not null
);

-- What the kinds of groups of a project are called; a kind may have several rows. Written by the events thread.
create table group_type (
  generation integer not null,
  project_id integer not null,
  index utinyint not null,
  name varchar not null
);

-- A JSON pointer's step to a key.
create macro pointer_to(key) as '/' || replace(replace(key, '~', '~0'), '/', '~1');

-- `"$group_0":"acme"` when `groups`, the $groups of an event, names a key of the kind called `name`, else NULL.
create macro group_member(groups, index, name) as
  '"$group_' || index || '":' || json_extract(groups, pointer_to(name))::varchar;

-- All of them, with commas between; empty when there are none. `names` are the kinds of groups by their index.
create macro group_members(groups, names) as
  case when json_type(groups) = 'OBJECT' then
    concat_ws(',', group_member(groups, 0, names[1]), group_member(groups, 1, names[2]),
      group_member(groups, 2, names[3]), group_member(groups, 3, names[4]), group_member(groups, 4, names[5]))
  else '' end;

-- The object without the `$group_N` that `members` has, behind `members`. Its values are printed anew.
create macro with_members_only_once(object, members) as
  '{' || concat_ws(',', members, list_aggregate(
    list_transform(
      list_filter(json_keys(object), lambda key: not (regexp_matches(key, '^\$group_[0-4]$')
        and contains(members, '"' || key || '":'))),
      lambda key: to_json(key)::varchar || ':' || json_extract(object, pointer_to(key))::varchar),
    'string_agg', ',')) || '}';

-- `object` with `members` put in front, as text: no number in it is read and printed again, unless its sender named a
-- `$group_N` too.
create macro with_members(object, members) as
  case
    when members = '' then object
    when regexp_matches(object, '"\$group_[0-4]"') then with_members_only_once(object, members)
    else '{' || members || ',' || substr(object, 2)
  end;

-- An event's properties with `$group_N` for every kind of group that its `$groups` names.
create macro with_groups(properties, names) as
  with_members(properties::varchar, group_members(json_extract(properties, '/$groups'), names))::json;

-- What reads see. Everything that reads events reads this view: it hides what is deleted, and knows whose event it is
-- and of which groups.
--
-- Of 1 M events, half of them of the project asked for, 100,000 overrides and as many changes, ms on two busy cores:
--                                                    the table   this view   latest change of all, no base
--   count by name                                            4          33                        31 to 87
--   count of distinct persons                               23          63                       68 to 225
--   newest 101 events                                       15          57                       50 to 305
-- An EXISTS or a scalar subquery in place of a join took up to a hundred times as long for a page.
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
  group by project_id, born_id
) change on change.project_id = event.project_id and change.born_id = event.born_id
left join (
  select project_id, born_id, max(deleted_at) as deleted_at
  from person_tombstone
  where generation = (select max(generation) from mirror where rest is null)
  group by project_id, born_id
) tombstone on tombstone.project_id = event.project_id and tombstone.born_id = event.born_id
left join (
  select project_id, [max(name) filter (index = 0), max(name) filter (index = 1), max(name) filter (index = 2),
    max(name) filter (index = 3), max(name) filter (index = 4)] as names
  from group_type
  where generation = (select max(generation) from mirror where rest is null)
  group by project_id
) kinds on kinds.project_id = event.project_id
where event.project_id not in (select project_id from deleted_project)
  and (tombstone.deleted_at is null or event.received_at > tombstone.deleted_at);
