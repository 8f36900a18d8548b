// What may be written of a project: one schema, from which the requests, the answers and the columns come.

import type { Static, TSchema } from 'typebox'
import { jsonField } from '../api/input-schema.ts'
import { Type } from '../api/schema.ts'

const flag = Type.Optional(Type.Boolean())
const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const nullableFlag = nullable(Type.Boolean())
const json = Type.Optional(jsonField)
/** Entries of a list that are null or empty are left out when it is stored. */
const entry = (maxLength: number) => Type.Union([Type.String({ maxLength }), Type.Null()])
const entriesMax = 1000
/** More than can arrive, and printed exactly. */
const monthlyQuotaMax = 1_000_000_000_000_000

export const projectInput = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  product_description: nullable(Type.String({ maxLength: 1000 })),
  app_urls: Type.Optional(Type.Array(entry(200), { maxItems: entriesMax })),
  slack_incoming_webhook: nullable(Type.String({ format: 'uri', maxLength: 500 })),
  anonymize_ips: flag,
  completed_snippet_onboarding: flag,
  test_account_filters: json,
  test_account_filters_default_checked: nullableFlag,
  path_cleaning_filters: json,
  is_demo: flag,
  timezone: Type.Optional(Type.String({ maxLength: 240, description: 'Name of the tz database.' })),
  data_attributes: json,
  person_display_name_properties: nullable(
    Type.Array(Type.String({ maxLength: 400 }), { maxItems: entriesMax }),
  ),
  correlation_config: json,
  autocapture_opt_out: nullableFlag,
  autocapture_exceptions_opt_in: nullableFlag,
  autocapture_web_vitals_opt_in: nullableFlag,
  autocapture_web_vitals_allowed_metrics: json,
  autocapture_exceptions_errors_to_ignore: json,
  capture_console_log_opt_in: nullableFlag,
  capture_performance_opt_in: nullableFlag,
  session_recording_opt_in: flag,
  session_recording_sample_rate: nullable(
    Type.String({ maxLength: 20, description: 'A decimal number from 0 to 1 with two places.' }),
  ),
  session_recording_minimum_duration_milliseconds: nullable(Type.Integer({ minimum: 0, maximum: 30_000 })),
  session_recording_linked_flag: json,
  session_recording_network_payload_capture_config: json,
  session_replay_config: json,
  survey_config: json,
  access_control: flag,
  week_start_day: Type.Optional(
    Type.Union([Type.Literal(0), Type.Literal(1), Type.Null()], { description: '0 Sunday, 1 Monday.' }),
  ),
  primary_dashboard: nullable(Type.Integer()),
  live_events_columns: nullable(Type.Array(Type.String({ maxLength: 400 }), { maxItems: entriesMax })),
  recording_domains: nullable(Type.Array(entry(200), { maxItems: entriesMax })),
  inject_web_apps: nullableFlag,
  extra_settings: json,
  modifiers: json,
  has_completed_onboarding_for: json,
  surveys_opt_in: nullableFlag,
  heatmaps_opt_in: nullableFlag,
  flags_persistence_default: nullableFlag,
  monthly_event_quota: nullable(
    Type.Integer({
      minimum: 0,
      maximum: monthlyQuotaMax,
      description:
        'Realtime events of a month that are stored; null is without limit. Not a field of PostHog.',
    }),
  ),
})
export type ProjectInput = Static<typeof projectInput>

/** Its names, which are those of the columns. */
export const projectFields = Object.keys(projectInput.properties)

/** Those that only administrators of the project change: who may enter it, and how much it stores. */
export const guardedFields = ['access_control', 'monthly_event_quota'] as const

/** A webhook's address is its password. */
export const projectSecrets = ['slack_incoming_webhook']

const shortFields = {
  id: Type.Integer(),
  uuid: Type.String({ format: 'uuid' }),
  organization: Type.String({ format: 'uuid' }),
  api_token: Type.String(),
  name: Type.String(),
  completed_snippet_onboarding: Type.Boolean(),
  has_completed_onboarding_for: jsonField,
  ingested_event: Type.Boolean(),
  is_demo: Type.Boolean(),
  timezone: Type.String(),
  access_control: Type.Boolean(),
}

/** An answer has every field. */
const { properties: writtenFields } = Type.Required(projectInput)

/** An element of a list. */
export const shortProjectSchema = Type.Object(shortFields)

export const projectSchema = Type.Object({
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  effective_membership_level: Type.Integer({
    description: "The caller's in this project: 1 member, 8 administrator, 15 owner.",
  }),
  has_group_types: Type.Boolean(),
  live_events_token: Type.String({ description: 'JSON Web Token for live events, good for seven days.' }),
  person_on_events_querying_enabled: Type.String({ description: '"true" or "false".' }),
  default_modifiers: Type.String({ description: 'JSON text.' }),
  product_intents: Type.String({ description: 'JSON text.' }),
  ...writtenFields,
  ...shortFields,
})
