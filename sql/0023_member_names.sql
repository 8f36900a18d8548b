-- Members are listed by their names, and those who are active are counted. Both stand beside the membership, so that a
-- page of the list looks into one index: on users, each of ten thousand had to pass their wall first.

alter table membership add column user_first_name text not null default '';
alter table membership add column user_is_active boolean not null default true;

-- A person writes to its own row alone; these are of every organization it belongs to.
create function follow_user() returns trigger language plpgsql security definer set search_path from current as $$
begin
  update membership set user_first_name = new.first_name, user_is_active = new.is_active where user_id = new.id;
  return null;
end $$;
create function copy_user() returns trigger language plpgsql security definer set search_path from current as $$
begin
  select first_name, is_active into strict new.user_first_name, new.user_is_active
  from app_user where id = new.user_id
  -- Whoever changes the user waits, and then finds this row.
  for share;
  return new;
end $$;

create trigger membership_follows after update of first_name, is_active on app_user for each row
  when (old.first_name <> new.first_name or old.is_active <> new.is_active) execute function follow_user();
create trigger membership_begins before insert on membership for each row execute function copy_user();

update membership set user_first_name = first_name, user_is_active = is_active
from app_user where app_user.id = user_id;

create index membership_by_name on membership (organization_id, user_first_name, joined_at desc, id)
  include (user_id) where user_is_active;
