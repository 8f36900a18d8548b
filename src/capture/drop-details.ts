// What each drop reason says to whoever reads it: as the detail of an ingestion warning, and, where the one event of
// a body ends its request, in the answer.

import type { DropReason } from './capture-task.ts'

export const dropDetails: Readonly<Record<DropReason, string>> = {
  event_not_an_object: 'an event must be an object',
  event_name_missing: 'event submitted without an event name',
  event_name_invalid: 'event must be a string',
  event_name_empty: 'event submitted with an empty event name',
  distinct_id_missing: 'event submitted without a distinct_id',
  uuid_invalid: 'uuid must be a UUID, an empty string or null',
  properties_invalid: 'properties must be an object',
  set_invalid: '$set and $set_once must be objects',
  timestamp_invalid: 'timestamp must be a string',
  offset_invalid: 'offset must be a whole number of milliseconds',
  cookieless_mode_invalid: 'event submitted with invalid cookieless mode',
  cookieless_mode_off: 'cookieless mode is off for this project',
  event_too_deep: 'an event may nest 128 levels deep',
  event_too_big:
    "the event's properties and $set are longer than MAX_BODY_BYTES, or its $elements than 1 MiB",
  performance_event: '$performance_event is not stored',
  person_processing_disabled: 'the event needs person processing, but $process_person_profile is false',
  group_key_too_long: '$group_key may have 400 characters',
  over_quota: "the project's monthly quota is used up",
}

/** Faults of the schema: as the only event of a body, such an event makes the request a 400. */
export const schemaFaults: ReadonlySet<DropReason> = new Set([
  'event_name_invalid',
  'uuid_invalid',
  'properties_invalid',
  'set_invalid',
  'timestamp_invalid',
  'offset_invalid',
  'cookieless_mode_invalid',
])
