// Lists a project's events, newest first, page by page.
//
// Order and cursor are (timestamp, lane, position, index): the last three make it strict, so a page never repeats or
// skips an event, whatever arrives in between. The rows of a page are chosen by these columns alone, then measured, and
// only then read whole: the wide columns of everything else stay untouched (1 M rows: 26 ms), and of a page of large
// events no more is in memory at once than the page may hold.

import type { DuckDBConnection } from '@duckdb/node-api'
import { ServiceError } from '../errors.ts'
import type { Micros } from '../lib/clock.ts'
import { shortMessage } from './failure.ts'
import { Parameters, type PropertyFilter, propertyCondition } from './property-filter.ts'

export const eventPageRowsMax = 1000
/** A page ends early once it holds this much text of properties; it always holds one event. */
const pageBytesMax = 32 * 1024 * 1024

/** The place of an event in the order of the list. */
export interface EventCursor {
  readonly timestampMicros: Micros
  readonly lane: number
  readonly position: number
  readonly index: number
}

/** What to list. Null means any. */
export interface EventFilter {
  readonly projectId: number
  readonly event: string | null
  readonly distinctId: string | null
  readonly personId: string | null
  /** Exclusive. */
  readonly afterMicros: Micros | null
  /** Exclusive. */
  readonly beforeMicros: Micros | null
  /** All of them must hold. */
  readonly properties: readonly PropertyFilter[]
  /** 1 to `eventPageRowsMax`. */
  readonly limit: number
  /** `next` of the page before; null for the first. */
  readonly cursor: EventCursor | null
}

export interface ListedEvent extends EventCursor {
  readonly uuid: string
  readonly event: string
  readonly distinctId: string
  readonly personId: string
  readonly receivedAtMicros: Micros
  /** JSON text, as it was stored. */
  readonly propertiesText: string
  readonly elementsChain: string
  readonly historical: boolean
  readonly anonymous: boolean
}

export interface EventPage {
  readonly events: readonly ListedEvent[]
  /** Where the next page begins; null when this is the last. */
  readonly next: EventCursor | null
}

const order = 'timestamp desc, lane desc, position desc, index desc'

/** Errors: invalid_input for a filter that DuckDB refuses (such as a regular expression that is none). */
export async function listEvents(connection: DuckDBConnection, filter: EventFilter): Promise<EventPage> {
  const parameters = new Parameters()
  const project = `project_id = ${parameters.add(filter.projectId, 'integer')}`
  const where = [project, ...conditions(filter, parameters)].join(' and ')
  const limit = Math.min(Math.max(filter.limit, 1), eventPageRowsMax)
  const sql = `
    with page as (
      select row_id from events where ${where} order by ${order} limit ${parameters.add(limit + 1, 'bigint')}
    ), measured as (
      select row_id, count(*) over () as found,
        coalesce(sum(bytes) over (order by ${order} rows between unbounded preceding and 1 preceding), 0)
          as bytes_before
      from (
        select row_id, timestamp, lane, position, index, strlen(properties) as bytes
        from events where ${project} and row_id in (select row_id from page)
      )
    )
    select uuid::varchar, event, distinct_id, person_id::varchar, epoch_us(timestamp)::double,
      epoch_us(received_at)::double, properties::varchar, elements_chain, historical, anonymous, lane::double,
      position::double, index::double, found::double
    from events join (
      select row_id, found from measured where bytes_before < ${parameters.add(pageBytesMax, 'bigint')}
    ) using (row_id)
    where ${project}
    order by ${order} limit ${parameters.add(limit, 'bigint')}`
  try {
    const reader = await connection.runAndReadAll(sql, parameters.values)
    const rows = reader.getRowsJS()
    const events = rows.map(listedEvent)
    const last = events.at(-1)
    const hasMore = last !== undefined && Number(rows[0]?.[13]) > events.length
    return { events, next: hasMore ? cursorOf(last) : null }
  } catch (error) {
    if (/^(Invalid Input|Conversion) Error/.test(shortMessage(error)))
      throw new ServiceError('invalid_input', { detail: shortMessage(error), cause: error })
    throw error
  }
}

function conditions(filter: EventFilter, parameters: Parameters): string[] {
  const { event, distinctId, personId, afterMicros, beforeMicros, cursor } = filter
  const time = (micros: Micros) => `make_timestamptz(${parameters.add(micros, 'bigint')})`
  const all: string[] = []
  if (event !== null) all.push(`event = ${parameters.add(event, 'varchar')}`)
  if (distinctId !== null) all.push(`distinct_id = ${parameters.add(distinctId, 'varchar')}`)
  if (personId !== null) all.push(`person_id = ${parameters.add(personId, 'uuid')}`)
  if (afterMicros !== null) all.push(`timestamp > ${time(afterMicros)}`)
  if (beforeMicros !== null) all.push(`timestamp < ${time(beforeMicros)}`)
  for (const property of filter.properties) all.push(propertyCondition(property, parameters))
  if (cursor !== null) {
    const lane = parameters.add(cursor.lane, 'utinyint')
    const position = parameters.add(cursor.position, 'bigint')
    const index = parameters.add(cursor.index, 'uinteger')
    // The first condition follows from the second and is the one that prunes row groups.
    all.push(`timestamp <= ${time(cursor.timestampMicros)}`)
    all.push(
      `(timestamp, lane, position, index) < (${time(cursor.timestampMicros)}, ${lane}, ${position}, ${index})`,
    )
  }
  return all
}

/** The columns of the statement above, in its order. */
type Row = readonly unknown[]

function listedEvent(row: Row): ListedEvent {
  return {
    uuid: String(row[0]),
    event: String(row[1]),
    distinctId: String(row[2]),
    personId: String(row[3]),
    timestampMicros: Number(row[4]) as Micros, // epoch_us counts microseconds
    receivedAtMicros: Number(row[5]) as Micros, // epoch_us counts microseconds
    propertiesText: String(row[6]),
    elementsChain: String(row[7]),
    historical: row[8] === true,
    anonymous: row[9] === true,
    lane: Number(row[10]),
    position: Number(row[11]),
    index: Number(row[12]),
  }
}

function cursorOf({ timestampMicros, lane, position, index }: ListedEvent): EventCursor {
  return { timestampMicros, lane, position, index }
}
