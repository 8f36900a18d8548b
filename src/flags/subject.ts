// Who or what a flag is evaluated for, and what is known of it. Its properties lie in layers: those of the request go
// before those derived from its address, and these before the stored ones.

import type { Effort } from './effort.ts'
import type { JsonObject } from './json-value.ts'

/** There is no such property. */
export const absent: unique symbol = Symbol('absent')
/** Whether there is such a property is known once the stored ones have been read. */
export const unread: unique symbol = Symbol('unread')

/** A person or a group. */
export interface Subject {
  /** distinct_id or group key. */
  readonly id: string
  /** The same, UTF-8. */
  readonly idBytes: Uint8Array
  /** A property whose value is always the id. */
  readonly idProperty: 'distinct_id' | '$group_key'
  /** What the request says; null when it says nothing. */
  readonly given: JsonObject | null
  /** What its address says; null when it says nothing. */
  readonly derived: JsonObject | null
  /** What is stored; null until it has been read. A subject that is not stored has none. */
  stored: JsonObject | null
}

/** Returns the value of a property, or `absent`, or `unread`. */
export function readProperty(subject: Subject, key: string): unknown {
  if (key === subject.idProperty) return subject.id
  const { given, derived, stored } = subject
  if (given !== null && Object.hasOwn(given, key)) return given[key]
  if (derived !== null && Object.hasOwn(derived, key)) return derived[key]
  if (stored === null) return unread
  return Object.hasOwn(stored, key) ? stored[key] : absent
}

/** All that an evaluation looks at apart from the definitions. */
export interface Circumstances {
  readonly person: Subject
  /** By group type index; null where the request names no group of the type. */
  readonly groups: readonly (Subject | null)[]
  /** UTF-8; null when the request names no device. */
  readonly deviceIdBytes: Uint8Array | null
  readonly nowMs: number
  readonly effort: Effort
  /** Static cohorts the person is in; null until they have been read. */
  staticCohorts: ReadonlySet<number> | null
  /** What a flag that keeps its value buckets the person by, UTF-8, by flag key; null until it has been read. */
  hashKeys: ReadonlyMap<string, Uint8Array> | null
}
