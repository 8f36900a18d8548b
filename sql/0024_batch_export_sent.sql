-- What was sent and not yet remembered as delivered is sent once more as it was.

alter table batch_export_run
  -- Where the chunk behind `cursor` ends that may be at its destination already; null when there is none.
  add sent_to text;
