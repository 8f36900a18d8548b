// An exported event as the event of a batch: the text that a client would send for it. JSON is put together from the
// texts of the columns, so numbers stay as they are. Pure.

import type { Row } from './csv-rows.ts'
import { type Column, DeliveryError } from './delivery.ts'

const required = ['uuid', 'event', 'distinct_id', 'timestamp', 'properties'] as const

/**
 * Makes the function that writes a row of these columns as event.
 * Errors: DeliveryError, permanent, when a query has left out what an event needs.
 */
export function eventText(columns: readonly Column[]): (row: Row) => string {
  const at = new Map(columns.map(({ name }, index) => [name, index]))
  const missing = required.filter((name) => !at.has(name))
  if (missing.length > 0) {
    const sentence = `The export's query leaves out ${missing.join(', ')}, which an event needs. Change the query.`
    throw new DeliveryError('permanent', sentence)
  }
  const columnOf = (row: Row, name: string): string | null => row[at.get(name) ?? -1] ?? null
  return (row) => {
    const members = (['uuid', 'event', 'distinct_id'] as const).map(
      (name) => `"${name}":${JSON.stringify(columnOf(row, name))}`,
    )
    const timestamp = isoText(columnOf(row, 'timestamp') ?? '')
    const properties = propertiesText(columnOf(row, 'properties'), columnOf(row, 'elements_chain'))
    return `{${members.join(',')},"timestamp":"${timestamp}","properties":${properties}}`
  }
}

/**
 * The properties with what the receiver has to be told: the chain of elements, which is no property once it is stored,
 * and, as PostHog does, not to look for a place: the address of the request would be ours. Of keys that occur twice the
 * last counts.
 */
function propertiesText(properties: string | null, elementsChain: string | null): string {
  const inner = (properties ?? '{}').trim().slice(1, -1)
  const chain =
    elementsChain === null || elementsChain === ''
      ? ''
      : `"$elements_chain":${JSON.stringify(elementsChain)},`
  return `{${inner.trim() === '' ? '' : `${inner},`}${chain}"$geoip_disable":true}`
}

/** Turns "2024-05-01 12:00:00.123456+00" into ISO 8601; without zone it is UTC. */
function isoText(text: string): string {
  const [, date, time] = /^(\S+)[ T]([\d:.]+)/.exec(text) ?? []
  return date === undefined ? text : `${date}T${time}Z`
}
