// The keys that capture knows, with a number for each: of an event and of the envelope around events (fields), and
// of an event's properties. Everything else is copied without being looked at.

import { buildKeyIndex, type KeyIndex } from './key-index.ts'
import { batchField, propertiesField } from './run-layout.ts'

/** Keys of an event and of the envelope, by their JSON names. */
export const Field = {
  event: 0,
  distinct_id: 1,
  $distinct_id: 2,
  uuid: 3,
  properties: propertiesField,
  timestamp: 5,
  offset: 6,
  $set: 7,
  $set_once: 8,
  $unset: 9,
  api_key: 10,
  token: 11,
  $token: 12,
  batch: batchField,
  historical_migration: 14,
  sent_at: 15,
} as const

/** The highest number of a field. */
export const lastField: number = Field.sent_at

/** Keys of properties that capture reads, by their JSON names. Numbers continue those of the fields. */
export const Property = {
  token: 16,
  distinct_id: 17,
  $elements: 18,
  $elements_chain: 19,
  $ip: 20,
  $sent_at: 21,
  $session_id: 22,
  $process_person_profile: 23,
  $cookieless_mode: 24,
  $ignore_sent_at: 25,
  capture_internal: 26,
  $group_0: 27,
  $group_1: 28,
  $group_2: 29,
  $group_3: 30,
  $group_4: 31,
  $screen_name: 32,
  $survey_id: 33,
  $survey_response: 34,
  $feature_flag: 35,
  $feature_flag_response: 36,
  $geoip_disable: 37,
  $geoip_city_name: 38,
  $geoip_country_name: 39,
  $geoip_country_code: 40,
  $geoip_continent_name: 41,
  $geoip_continent_code: 42,
  $geoip_postal_code: 43,
  $geoip_latitude: 44,
  $geoip_longitude: 45,
  $geoip_accuracy_radius: 46,
  $geoip_time_zone: 47,
  $geoip_subdivision_1_code: 48,
  $geoip_subdivision_1_name: 49,
  // From here on the persons consumer needs them too.
  $set: 50,
  $set_once: 51,
  $unset: 52,
  $groups: 53,
  $anon_distinct_id: 54,
  alias: 55,
  $group_type: 56,
  $group_key: 57,
  $group_set: 58,
  $current_url: 59,
} as const

/**
 * Properties of an event from which the persons consumer derives `$set` and `$initial_…`, in PostHog's order: app,
 * device and page, campaign. `$current_url` is one of them and has its own name above.
 */
const mappedProperties = [
  '$app_build $app_name $app_namespace $app_version',
  '$browser $browser_version $device_type $pathname $os $os_name $os_version $referring_domain $referrer',
  '$screen_height $screen_width $viewport_height $viewport_width $raw_user_agent',
  'utm_source utm_medium utm_campaign utm_content utm_name utm_term gclid gad_source gclsrc dclid gbraid wbraid',
  'fbclid msclkid twclid li_fat_id mc_cid igshid ttclid rdt_cid irclid _kx epik qclid sccid',
]

/** What sets and unsets properties of a person, as fields of an event and among its properties. */
export const setFields: readonly number[] = [Field.$set, Field.$set_once, Field.$unset]
export const setProperties: readonly number[] = [Property.$set, Property.$set_once, Property.$unset]

/** The lowest number of a mapped property. */
export const mappedFirst: number = Property.$current_url

const fieldNames = Object.keys(Field)
const propertyNames = [...Object.keys(Property), ...mappedProperties.join(' ').split(' ')]

/** How many known keys there are: every number is below. */
export const keyCount: number = fieldNames.length + propertyNames.length

export const fieldIndex: KeyIndex = buildKeyIndex(fieldNames, 0)
export const propertyIndex: KeyIndex = buildKeyIndex(propertyNames, fieldNames.length)

/** `"name":` of each known key, by number. */
export const keyTexts: readonly Uint8Array[] = [...fieldNames, ...propertyNames].map(
  (name) => new Uint8Array(Buffer.from(`"${name}":`)),
)
