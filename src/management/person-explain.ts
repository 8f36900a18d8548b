// GET /api/projects/:project_id/persons/explain/: which events made a person what it is.

import { type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { NotedEvent, RunQuery } from '../events/identity-history.ts'
import type { Micros } from '../lib/clock.ts'
import { formatMicros } from './events-list.ts'
import { type AccountedEvent, accountOf, type PersonAccount } from './person-account.ts'
import { exactText } from './sql-values.ts'

const time = Type.String({ format: 'date-time' })
const eventSchema = Type.Object({
  event: Type.String(),
  uuid: Type.String({ format: 'uuid' }),
  distinct_id: Type.String(),
  timestamp: time,
  received_at: time,
  historical: Type.Boolean(),
})
const orNull = <Schema extends ReturnType<typeof Type.Object>>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
const outcome = Type.String({ description: 'born, created, attached, merged, unchanged or refused.' })

const accountSchema = Type.Object({
  distinct_id: Type.String(),
  person: orNull(
    Type.Object({ uuid: Type.String({ format: 'uuid' }), created_at: time, is_identified: Type.Boolean() }),
  ),
  distinct_ids: Type.Array(
    Type.Object({
      distinct_id: Type.String(),
      joined: orNull(
        Type.Object({ outcome, other_id: Type.Union([Type.String(), Type.Null()]), by: eventSchema }),
      ),
      event_count: Type.Integer(),
      anonymous_event_count: Type.Integer(),
      first_seen: Type.Union([time, Type.Null()]),
      last_seen: Type.Union([time, Type.Null()]),
    }),
  ),
  merges: Type.Array(
    Type.Object({
      outcome,
      reason: Type.Union([Type.String(), Type.Null()]),
      other_id: Type.String(),
      person_uuid: Type.String({ format: 'uuid', description: 'The person of the event afterwards.' }),
      by: eventSchema,
    }),
  ),
  properties: Type.Array(
    Type.Object({
      operation: Type.String(),
      key: Type.String(),
      event_count: Type.Integer(),
      last_timestamp: time,
    }),
    { description: 'What events set and unset themselves; what is derived from an event is not listed.' },
  ),
  warnings: Type.Array(
    Type.Object({
      reason: Type.String(),
      count: Type.Integer({ description: 'Of the whole project.' }),
      last_seen: time,
      sample: Type.Object({}, { additionalProperties: true }),
    }),
  ),
  first_event: orNull(eventSchema),
  last_event: orNull(eventSchema),
  notes: Type.Array(Type.String()),
})

const query = Type.Object({
  distinct_id: Type.Unsafe<string>({ description: 'Whose person is explained.' }),
})

export function personExplain(run: RunQuery): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/persons/explain',
    operationId: 'persons_explain_retrieve',
    summary: 'Tell which events and merges made the person of a distinct_id',
    tag: 'persons',
    query,
    body: null,
    status: 200,
    response: accountSchema,
    handle: async ({ project, sql, query: { distinct_id } }) => {
      if (distinct_id === '') throw new ServiceError('blank', { attr: 'distinct_id' })
      const distinctId = exactText(distinct_id, 'distinct_id')
      return { distinct_id, ...serialize(await accountOf(sql, run, project.id, distinctId)) }
    },
  })
}

function serialize(account: PersonAccount): object {
  return {
    person: account.person,
    distinct_ids: account.ids.map(({ distinctId, joinedWith, history }) => ({
      distinct_id: distinctId,
      joined: joinedWith === null ? null : joinedFields(joinedWith),
      event_count: history?.eventCount ?? 0,
      anonymous_event_count: history?.anonymousCount ?? 0,
      first_seen: timeOf(history?.firstMicros),
      last_seen: timeOf(history?.lastMicros),
    })),
    merges: account.merges.map((merge) => ({
      outcome: merge.outcome,
      reason: merge.reason,
      other_id: merge.otherId,
      person_uuid: merge.personUuid,
      by: eventFields(merge.noted),
    })),
    properties: account.properties.map(({ operation, key, eventCount, lastMicros }) => ({
      operation,
      key,
      event_count: eventCount,
      last_timestamp: timeOf(lastMicros),
    })),
    warnings: account.warnings,
    first_event: account.first === null ? null : eventFields(account.first),
    last_event: account.last === null ? null : eventFields(account.last),
    notes: account.notes,
  }
}

function joinedFields({ outcome, otherId, noted }: AccountedEvent): object {
  return { outcome, other_id: otherId, by: eventFields(noted) }
}

function eventFields(noted: NotedEvent): object {
  return {
    event: noted.event,
    uuid: noted.uuid,
    distinct_id: noted.distinctId,
    timestamp: timeOf(noted.timestampMicros),
    received_at: timeOf(noted.receivedAtMicros),
    historical: noted.historical,
  }
}

function timeOf(micros: Micros | undefined): string | null {
  return micros === undefined ? null : formatMicros(micros)
}
