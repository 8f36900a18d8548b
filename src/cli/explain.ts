// `spate explain`: which events and merges made a person, told by the running server.

import type { Config } from '../config.ts'
import { openServerClient, type ServerAddress } from './server-client.ts'

export interface ExplainOptions extends ServerAddress {
  readonly distinctId: string
  /** Id or project API key; the only project when undefined. */
  readonly project?: string | undefined
  readonly asJson: boolean
}

/** The answer of /persons/explain/ (person-explain.ts). */
interface Account {
  readonly person: { uuid: string; created_at: string; is_identified: boolean } | null
  readonly distinct_ids: readonly {
    distinct_id: string
    joined: { outcome: string; other_id: string | null; by: ToldEvent } | null
    event_count: number
    anonymous_event_count: number
    first_seen: string | null
    last_seen: string | null
  }[]
  readonly merges: readonly { outcome: string; reason: string | null; other_id: string; by: ToldEvent }[]
  readonly properties: readonly {
    operation: string
    key: string
    event_count: number
    last_timestamp: string
  }[]
  readonly warnings: readonly { reason: string; last_seen: string; sample: Record<string, string> }[]
  readonly first_event: ToldEvent | null
  readonly last_event: ToldEvent | null
  readonly notes: readonly string[]
}

interface ToldEvent {
  readonly event: string
  readonly uuid: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly historical: boolean
}

/** Returns what to print. Errors: config_invalid, server_unavailable, server_refused. */
export async function runExplain(config: Config, options: ExplainOptions): Promise<string> {
  const { distinctId, asJson } = options
  const server = openServerClient(config, options)
  const projectId = await server.findProject(options.project)
  const query = new URLSearchParams({ distinct_id: distinctId })
  const answer = await server.get(`/api/projects/${projectId}/persons/explain/?${query}`)
  if (asJson) return `${JSON.stringify(answer, null, 2)}\n`
  return textOf(projectId, distinctId, answer as Account) // the route answers what person-explain.ts describes
}

function textOf(projectId: number, distinctId: string, account: Account): string {
  const { person, first_event, last_event } = account
  const lines = [`${shown(distinctId)} in project ${projectId}`]
  if (person !== null) {
    const state = person.is_identified ? 'identified' : 'not identified'
    lines.push(`person ${person.uuid}, ${state}, created ${person.created_at}`)
  }
  lines.push(...section('distinct_ids', account.distinct_ids.flatMap(idLines)))
  lines.push(...section('merges, in the order they were received', account.merges.map(mergeLine)))
  lines.push(...section('properties that events set themselves', account.properties.map(propertyLine)))
  lines.push(...section('ingestion warnings', account.warnings.map(warningLine)))
  const outermost = [
    ...(first_event === null ? [] : [`first  ${eventText(first_event)}`]),
    ...(last_event === null ? [] : [`last   ${eventText(last_event)}`]),
  ]
  lines.push(...section('events', outermost), ...section('notes', account.notes))
  return `${lines.join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
}

function idLines(id: Account['distinct_ids'][number]): string[] {
  const { joined, event_count, anonymous_event_count, first_seen, last_seen } = id
  const between = first_seen === null ? '' : `, ${first_seen} to ${last_seen}`
  const counted = `${event_count} events, ${anonymous_event_count} of them anonymous${between}`
  const lines = [`${shown(id.distinct_id)}  (${counted})`]
  if (joined === null) return [...lines, '  no stored event shows how it came to the person']
  const other = joined.other_id === null ? '' : ` with ${shown(joined.other_id)}`
  return [...lines, `  ${joined.outcome} by ${eventText(joined.by)}${other}`]
}

function mergeLine({ outcome, reason, other_id, by }: Account['merges'][number]): string {
  const why = reason === null ? '' : `: ${reason}`
  return `${eventText(by)} with ${shown(other_id)}  ${outcome}${why}`
}

function propertyLine({
  operation,
  key,
  event_count,
  last_timestamp,
}: Account['properties'][number]): string {
  return `${operation.padEnd(9)}  ${shown(key)}  (${event_count} events, last ${last_timestamp})`
}

function warningLine({ reason, last_seen, sample }: Account['warnings'][number]): string {
  const { event = '', distinct_id = '', detail = '' } = sample
  return `${reason}  last ${last_seen}, ${shown(event)} of ${shown(distinct_id)}: ${shown(detail)}`
}

function eventText({ event, uuid, distinct_id, timestamp, historical }: ToldEvent): string {
  return `${timestamp}  ${shown(event)} of ${shown(distinct_id)}  [${uuid}${historical ? ', historical' : ''}]`
}

/** Text of a sender's choosing: what would move a terminal's cursor, or turn text around, is escaped. */
function shown(text: string): string {
  if (text !== '' && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]/u.test(text)) return text
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
