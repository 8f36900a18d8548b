// What the stored events say about who is who: the events that join ids, the first event of each id, and what was set.
// All of it reads the view `events`, so what is deleted is not there.

import type { Micros } from '../lib/clock.ts'
import type { QueryResult, QueryValue } from './messages.ts'

export type RunQuery = (sql: string, values: readonly QueryValue[]) => Promise<QueryResult>

/** An event as far as it is told of. */
export interface NotedEvent {
  readonly uuid: string
  readonly event: string
  readonly distinctId: string
  readonly timestampMicros: Micros
  readonly receivedAtMicros: Micros
  readonly historical: boolean
  /** Its place among the events of one lane, comparable as a list. */
  readonly place: readonly [receivedAt: number, lane: number, position: number, index: number]
}

export interface JoiningEvent extends NotedEvent {
  /** JSON text of `$anon_distinct_id` or `alias` as it was sent; null when it was not. */
  readonly otherIdText: string | null
}

export interface IdHistory {
  readonly eventCount: number
  readonly anonymousCount: number
  readonly firstMicros: Micros
  readonly lastMicros: Micros
}

export interface PropertyChange {
  readonly operation: '$set' | '$set_once' | '$unset'
  readonly key: string
  readonly eventCount: number
  readonly lastMicros: Micros
}

const noted = `uuid::varchar, event, distinct_id, epoch_us(timestamp)::double, epoch_us(received_at)::double,
  historical, lane::double, position::double, index::double`
const inOrder = 'received_at, lane, position, index'
/** $1 is the project, $2 the ids as a JSON array of texts. */
const ofIds = `project_id = $1::integer and distinct_id in (select unnest(from_json($2::json, '["VARCHAR"]')))`

/** The first `limit` events that name one of `ids` as either of the two they join, in order. */
export async function joiningEvents(
  run: RunQuery,
  projectId: number,
  ids: readonly string[],
  limit: number,
): Promise<JoiningEvent[]> {
  const { rows } = await run(
    `with wanted as (select unnest(from_json($2::json, '["VARCHAR"]')) as id),
     joining as (
       select *, json_extract(properties,
         case event when '$identify' then '/$anon_distinct_id' else '/alias' end) as other
       from events
       where project_id = $1::integer and event in ('$identify', '$create_alias', '$merge_dangerously')
     )
     select ${noted}, other::varchar
     from joining
     where other is not null
       and (distinct_id in (select id from wanted) or json_extract_string(other, '$') in (select id from wanted))
     order by ${inOrder} limit $3::bigint`,
    [projectId, JSON.stringify(ids), limit],
  )
  return rows.map((row) => ({
    ...notedEvent(row),
    otherIdText: typeof row[9] === 'string' ? row[9] : null,
  }))
}

/** The first event of each id that was not anonymous: it made a person if there was none. */
export async function firstEvents(
  run: RunQuery,
  projectId: number,
  ids: readonly string[],
): Promise<NotedEvent[]> {
  const { rows } = await run(
    `select ${noted} from events where ${ofIds} and not anonymous
     qualify row_number() over (partition by distinct_id order by ${inOrder}) = 1`,
    [projectId, JSON.stringify(ids)],
  )
  return rows.map(notedEvent)
}

/** By distinct_id; an id without events is not there. */
export async function idHistories(
  run: RunQuery,
  projectId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, IdHistory>> {
  const { rows } = await run(
    `select distinct_id, count(*)::double, (count(*) filter (anonymous))::double,
       epoch_us(min(timestamp))::double, epoch_us(max(timestamp))::double
     from events where ${ofIds} group by distinct_id`,
    [projectId, JSON.stringify(ids)],
  )
  const histories = rows.map((row) => ({
    eventCount: Number(row[1]),
    anonymousCount: Number(row[2]),
    firstMicros: microsOf(row[3]),
    lastMicros: microsOf(row[4]),
  }))
  return new Map(histories.map((history, index) => [String(rows[index]?.[0]), history]))
}

/** The earliest and the latest event by their own time; none when there are no events. */
export async function outermostEvents(
  run: RunQuery,
  projectId: number,
  ids: readonly string[],
): Promise<{ first: NotedEvent; last: NotedEvent } | null> {
  const one = (order: string): string =>
    `(select ${noted} from events where ${ofIds}
      order by timestamp ${order}, received_at ${order}, lane ${order}, position ${order}, index ${order} limit 1)`
  const values = [projectId, JSON.stringify(ids)]
  const firstRow = (await run(one('asc'), values)).rows[0]
  const lastRow = (await run(one('desc'), values)).rows[0]
  if (firstRow === undefined || lastRow === undefined) return null
  return { first: notedEvent(firstRow), last: notedEvent(lastRow) }
}

/** Which person properties events of the ids named themselves, latest first, at most `limit`. */
export async function propertyChanges(
  run: RunQuery,
  projectId: number,
  ids: readonly string[],
  limit: number,
): Promise<PropertyChange[]> {
  const names = (operation: string): string => `
    select '${operation}' as operation, timestamp, unnest(
      case json_type(json_extract(properties, '/${operation}'))
        when 'OBJECT' then json_keys(json_extract(properties, '/${operation}'))
        when 'ARRAY' then from_json(json_extract(properties, '/${operation}'), '["VARCHAR"]')
      end) as key
    from said`
  const { rows } = await run(
    `with said as (select properties, timestamp from events where ${ofIds} and not anonymous)
     select operation, key, count(*)::double, epoch_us(max(timestamp))::double
     from (${['$set', '$set_once', '$unset'].map(names).join(' union all ')})
     where key is not null
     group by operation, key order by max(timestamp) desc, key, operation limit $3::bigint`,
    [projectId, JSON.stringify(ids), limit],
  )
  return rows.map((row) => ({
    operation: row[0] as PropertyChange['operation'], // one of the three names above
    key: String(row[1]),
    eventCount: Number(row[2]),
    lastMicros: microsOf(row[3]),
  }))
}

/** Negative when `left` came first. */
export function inOrderOfArrival(left: NotedEvent, right: NotedEvent): number {
  for (const [index, value] of left.place.entries()) {
    const difference = value - right.place[index]!
    if (difference !== 0) return difference
  }
  return 0
}

function notedEvent(row: readonly unknown[]): NotedEvent {
  return {
    uuid: String(row[0]),
    event: String(row[1]),
    distinctId: String(row[2]),
    timestampMicros: microsOf(row[3]),
    receivedAtMicros: microsOf(row[4]),
    historical: row[5] === true,
    place: [Number(row[4]), Number(row[6]), Number(row[7]), Number(row[8])],
  }
}

function microsOf(value: unknown): Micros {
  return Number(value) as Micros // epoch_us counts microseconds
}
