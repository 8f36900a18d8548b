// A project of which nothing has been set, as the API shows it; without what is its own and what depends on who asks.

import { ids } from '../api/world.ts'

/** Fields of a list. */
export const shortForm = {
  organization: ids.ours,
  name: 'Default project',
  completed_snippet_onboarding: false,
  has_completed_onboarding_for: null,
  ingested_event: false,
  is_demo: false,
  timezone: 'UTC',
  access_control: false,
}

/** All fields but those of time. */
export const fullForm = {
  ...shortForm,
  has_group_types: false,
  person_on_events_querying_enabled: 'true',
  default_modifiers: '{}',
  product_intents: '[]',
  product_description: null,
  app_urls: [],
  slack_incoming_webhook: null,
  anonymize_ips: false,
  test_account_filters: [],
  test_account_filters_default_checked: null,
  path_cleaning_filters: [],
  data_attributes: ['data-attr'],
  person_display_name_properties: null,
  correlation_config: {},
  autocapture_opt_out: null,
  autocapture_exceptions_opt_in: null,
  autocapture_web_vitals_opt_in: null,
  autocapture_web_vitals_allowed_metrics: null,
  autocapture_exceptions_errors_to_ignore: null,
  capture_console_log_opt_in: true,
  capture_performance_opt_in: true,
  session_recording_opt_in: false,
  session_recording_sample_rate: null,
  session_recording_minimum_duration_milliseconds: null,
  session_recording_linked_flag: null,
  session_recording_network_payload_capture_config: null,
  session_replay_config: null,
  survey_config: null,
  week_start_day: null,
  primary_dashboard: null,
  live_events_columns: null,
  recording_domains: null,
  inject_web_apps: null,
  extra_settings: null,
  modifiers: null,
  surveys_opt_in: null,
  heatmaps_opt_in: null,
  flags_persistence_default: false,
  monthly_event_quota: null,
}
