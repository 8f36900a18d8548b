// Builds the bodies that the contract tests send.

import { testProjectApiKey } from '../support/client.ts'

export type Fields = Readonly<Record<string, unknown>>

/** An event without a key: the smallest one that is stored, and more fields. */
export function event(distinctId: unknown, more: Fields = {}): Fields {
  return { event: 'e', distinct_id: distinctId, ...more }
}

/** One event as a body of its own. */
export function single(distinctId: unknown, more: Fields = {}): Fields {
  return { api_key: testProjectApiKey, ...event(distinctId, more) }
}

/** An envelope. */
export function batch(...events: readonly unknown[]): Fields {
  return { api_key: testProjectApiKey, batch: events }
}
