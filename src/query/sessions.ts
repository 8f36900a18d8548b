// Sessions, put together from the events that name them.

import { channelType } from './channel-type.ts'

/** Advertisers' marks in the address that a session began with. */
const clickIds = [
  'gclid',
  'gad_source',
  'fbclid',
  'msclkid',
  'dclid',
  'gbraid',
  'wbraid',
  'ttclid',
  'li_fat_id',
]
const utmKeys = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term']
const entryKeys = ['$referring_domain', ...utmKeys, ...clickIds]
/** Properties of events that sessions are made of. */
const readKeys = [
  '$session_id',
  '$current_url',
  '$pathname',
  '$host',
  '$external_click_url',
  '$web_vitals_LCP_value',
  ...entryKeys,
]

/** The text of a property of an event `t`. */
export type ReadProperty = (name: string) => string

const readAlone: ReadProperty = (name) => `json_extract_string(t.properties, '/${name}')`
/** From the list of all, for which the JSON is read once. */
const readTogether: ReadProperty = (name) => `t.texts[${readKeys.indexOf(name) + 1}]`

/** The session that an event `t` belongs to. */
export const sessionOfEvent: string = readAlone('$session_id')

const countOf = (event: string) => `count(*) filter (where t.event = '${event}')`
/** What a session with less than two of these in ten seconds did: its visitor bounced. */
const deeds = `count(*) filter (where t.event in ('$pageview', '$screen', '$autocapture'))`
const durationOf = `date_diff('second', min(t.timestamp), max(t.timestamp))`

/** Sessions of a project: of whichever columns are asked for the properties are read. */
export function sessionsSelect(projectId: number): string {
  const events = `temp.main.paced_events t where t.project_id = ${projectId} and ${sessionOfEvent} <> ''`
  return withChannel(grouped(events, readAlone))
}

/**
 * The sessions that `sessions` selects, none of them empty, whole and with all columns. To know an event's session its
 * JSON is read once, since the condition that it has one follows from the other; what else it says is read together,
 * for the events of these sessions alone.
 */
export function wholeSessionsSelect(projectId: number, sessions: string): string {
  const paths = readKeys.map((key) => `'/${key}'`).join(', ')
  const events = `(
    select t.*, json_extract_string(t.properties, [${paths}]) as texts from temp.main.paced_events t
    where t.project_id = ${projectId} and ${sessionOfEvent} in (${sessions})) t`
  return withChannel(grouped(events, readTogether))
}

function withChannel(sessions: string): string {
  const entry = (name: string): string => `"$entry_${name}"`
  const channel = channelType({
    source: entry('utm_source'),
    medium: entry('utm_medium'),
    campaign: entry('utm_campaign'),
    referringDomain: entry('referring_domain'),
    gclid: entry('gclid'),
    fbclid: entry('fbclid'),
    gadSource: entry('gad_source'),
  })
  return `select *, len("$urls") as "$num_uniq_urls", ${channel} as "$channel_type" from (${sessions}) sessions`
}

function grouped(events: string, read: ReadProperty): string {
  const firstOf = (name: string): string => `arg_min(${read(name)}, t.timestamp)`
  const lastOf = (name: string): string => `arg_max(${read(name)}, t.timestamp)`
  const entries = entryKeys.map((key) => `${firstOf(key)} as "$entry_${key.replace(/^\$/, '')}"`)
  const url = read('$current_url')
  const lcp = `try_cast(${read('$web_vitals_LCP_value')} as double)`
  return `
    select ${read('$session_id')} as session_id, arg_min(t.distinct_id, t.timestamp) as distinct_id,
      min(t.timestamp) as "$start_timestamp", max(t.timestamp) as "$end_timestamp",
      ${durationOf} as "$session_duration",
      ${countOf('$pageview')} as "$pageview_count", ${countOf('$autocapture')} as "$autocapture_count",
      ${countOf('$screen')} as "$screen_count",
      coalesce(list_sort(list(distinct ${url}) filter (where ${url} <> '')), []) as "$urls",
      ${firstOf('$current_url')} as "$entry_current_url", ${lastOf('$current_url')} as "$end_current_url",
      ${firstOf('$pathname')} as "$entry_pathname", ${lastOf('$pathname')} as "$end_pathname",
      ${firstOf('$host')} as "$entry_hostname", ${lastOf('$host')} as "$end_hostname",
      ${entries.join(', ')},
      ${lastOf('$external_click_url')} as "$last_external_click_url",
      arg_min(${lcp}, t.timestamp) filter (where ${lcp} is not null) as "$vitals_lcp",
      case when ${countOf('$pageview')} + ${countOf('$screen')} = 0 then null
        else ${deeds} < 2 and ${durationOf} < 10 end as "$is_bounce",
      max(t.received_at) as inserted_at, t.project_id as team_id
    from ${events}
    group by ${read('$session_id')}, t.project_id`
}
