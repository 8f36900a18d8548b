-- What a person has seen is kept with its row, written whenever the row is: who meets the person for the first time,
-- or again after a restart, need not read its properties to know that an event changes nothing.

alter table person add column seen uuid;
comment on column person.seen is
  'Digests of up to three events that change nothing of this row, packed into 16 bytes; null: none are known.';
