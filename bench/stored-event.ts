// What a store holds of an event, reduced to eight bytes for comparison: the oracle writes the hash of what it is
// about to send, and compares it with the hash of what it finds.

import { createHash } from 'node:crypto'

export interface StoredEvent {
  readonly event: string
  readonly distinctId: string
  readonly timestampMs: number
  readonly historical: boolean
  readonly elementsChain: string
  readonly properties: Readonly<Record<string, unknown>>
}

export const eventHashBytes = 8

/** Properties that a server adds by itself: what they hold depends on the connection, not on the event. */
function isAddedByServer(key: string): boolean {
  return key === '$ip' || key === '$sent_at' || key.startsWith('$geoip_')
}

/** A hash that is equal exactly when two events say the same, whatever the order of their properties. */
export function hashEvent(stored: StoredEvent): Buffer {
  const properties = Object.entries(stored.properties)
    .filter(([key]) => !isAddedByServer(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify([
    stored.event,
    stored.distinctId,
    stored.timestampMs,
    stored.historical,
    stored.elementsChain,
    properties,
  ])
  return createHash('sha1').update(text).digest().subarray(0, eventHashBytes)
}
