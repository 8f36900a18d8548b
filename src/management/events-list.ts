// GET /api/projects/:project_id/events/: a project's events, newest first.

import { JsonText, type Operation, projectOperation } from '../api/operation.ts'
import { linkTo } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { type EventFilter, type EventPage, eventPageRowsMax, type ListedEvent } from '../events/list.ts'
import type { Clock, Micros } from '../lib/clock.ts'
import { decodeCursor, encodeCursor, readMoment, readPropertyFilters } from './event-filter.ts'
import { type EventPersons, personsOfEvents } from './event-persons.ts'

/** The part of the events store that this list needs. */
export interface EventsReader {
  listEvents(filter: EventFilter): Promise<EventPage>
}

const limitDefault = 100
/** A page ends early once it is so long; a person is printed beside each of its events. */
const pageCharsMax = 32 * 1024 * 1024

const eventSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  distinct_id: Type.String(),
  properties: Type.Object({}, { additionalProperties: true }),
  event: Type.String(),
  timestamp: Type.String({ format: 'date-time' }),
  person: Type.Union([
    Type.Object({
      distinct_ids: Type.Array(Type.String()),
      properties: Type.Object({}, { additionalProperties: true }),
    }),
    Type.Null(),
  ]),
  elements: Type.Array(Type.Object({})),
  elements_chain: Type.String(),
})

const query = Type.Object({
  event: Type.Optional(Type.String({ description: 'Only events of this name.' })),
  distinct_id: Type.Optional(Type.String({ description: 'Only events of this distinct_id.' })),
  person_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only events of this person.' })),
  after: Type.Optional(
    Type.String({ description: 'Only later events: a timestamp, or a time ago such as -24h.' }),
  ),
  before: Type.Optional(Type.String({ description: 'Only earlier events; as after.' })),
  properties: Type.Optional(
    Type.String({ description: 'JSON array of {key, value, operator, type: "event"}.' }),
  ),
  limit: Type.Optional(
    Type.Unknown({ description: `${limitDefault} when absent, at most ${eventPageRowsMax}.` }),
  ),
  cursor: Type.Optional(Type.String({ description: 'Continues a list; part of its next link.' })),
})

export function eventsList(events: EventsReader, clock: Clock): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/events',
    operationId: 'events_list',
    summary: 'List events, newest first',
    tag: 'events',
    query,
    body: null,
    status: 200,
    response: Type.Object({
      next: Type.Union([Type.String({ format: 'uri' }), Type.Null()]),
      results: Type.Array(eventSchema),
    }),
    handle: async ({ project, sql, query, url }) => {
      const nowMs = clock.nowMs()
      const page = await events.listEvents({
        projectId: project.id,
        event: query.event || null,
        distinctId: query.distinct_id || null,
        personId: query.person_id || null,
        afterMicros: query.after ? readMoment(query.after, 'after', nowMs) : null,
        beforeMicros: query.before ? readMoment(query.before, 'before', nowMs) : null,
        properties: query.properties ? readPropertyFilters(query.properties) : [],
        limit: limitOf(query.limit),
        cursor: query.cursor ? decodeCursor(query.cursor) : null,
      })
      const persons = await personsOfEvents(sql, project.id, page.events)
      const texts = printEvents(page.events, persons)
      const end = texts.length < page.events.length ? (page.events[texts.length - 1] ?? null) : page.next
      const next = end === null ? null : linkTo(url, { cursor: encodeCursor(end) })
      return new JsonText(`{"next":${JSON.stringify(next)},"results":[${texts.join(',')}]}`)
    },
  })
}

/** Prints events one after the other, as far as a page has room for them and their persons; at least one. */
function printEvents(events: readonly ListedEvent[], persons: EventPersons): string[] {
  const texts: string[] = []
  let chars = 0
  for (const listed of events) {
    const person = persons.get(listed.personId)
    if (person === null) break
    const text = eventText(listed, person ?? 'null')
    chars += text.length
    if (texts.length > 0 && chars > pageCharsMax) break
    texts.push(text)
  }
  return texts
}

function limitOf(sent: unknown): number {
  const limit = typeof sent === 'string' && /^\d+$/.test(sent) ? Number(sent) : 0
  return limit > 0 ? Math.min(limit, eventPageRowsMax) : limitDefault
}

/** Prints one event. Its properties are put in as they were stored: no number in them is read and printed again. */
function eventText(listed: ListedEvent, person: string): string {
  const { uuid, distinctId, propertiesText, event, timestampMicros, elementsChain } = listed
  return (
    `{"id":"${uuid}","distinct_id":${JSON.stringify(distinctId)},"properties":${propertiesText},` +
    `"event":${JSON.stringify(event)},"timestamp":"${formatMicros(timestampMicros)}","person":${person},` +
    `"elements":[],"elements_chain":${JSON.stringify(elementsChain)}}`
  )
}

/** Prints a moment in UTC; microseconds only where there are some. */
export function formatMicros(micros: Micros): string {
  const seconds = Math.floor(micros / 1_000_000)
  const fraction = micros - seconds * 1_000_000
  const text = new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length)
  return fraction === 0 ? `${text}Z` : `${text}.${String(fraction).padStart(6, '0')}Z`
}
