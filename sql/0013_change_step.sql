-- The changes of one step of the persons consumer belong together: half of them is half a merge. Whoever applies them
-- page by page must know where a step ends. Changes from before this column stand alone, as they always did.
alter table store_change add column step_end bigint;
comment on column store_change.step_end is 'The last change of the same step.';
