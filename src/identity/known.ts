// What the fold is told before it begins: persons, groups and group types as they stand before a step, loaded ahead
// of it (ids-to-load.ts says which), so that folding needs no I/O and no waiting.

import type { Micros } from '../lib/clock.ts'
import type { Seen } from './seen.ts'

/** A person, as stored. Rows are never changed in place: the fold makes new ones. */
export interface Person {
  readonly projectId: number
  readonly uuid: string
  readonly createdAtMicros: Micros
  readonly isIdentified: boolean
  /** 0 at birth, one more for every event that changed the person. */
  readonly version: number
  /** JSON text of an object: as the fold printed it, or as a database prints what the fold once printed. */
  readonly properties: string
  /** Of this very row. What the fold remembers, no part of the person: a loader may start with nothing. */
  seen: Seen
}

export interface Group {
  readonly projectId: number
  readonly typeIndex: number
  readonly key: string
  readonly createdAtMicros: Micros
  /** 1 at birth, one more for every event that changed the group. */
  readonly version: number
  /** JSON text of an object, like a person's. */
  readonly properties: string
}

/** One project as it stands before the step. */
export interface KnownProject {
  /** `ingested_event`: an event was applied before. */
  readonly hasEvents: boolean
  /** Index of every group type of the project, by name. */
  readonly groupTypes: ReadonlyMap<string, number>
  person(distinctId: string): Person | null
  personByUuid(uuid: string): Person | null
  /** All distinct_ids of a person that ids-to-load.ts asked to be loaded whole. */
  distinctIdsOf(personUuid: string): readonly string[]
  group(type: string, key: string): Group | null
}

export interface Known {
  /** Null for a project that does not exist, or no more: its events change nothing. */
  project(projectId: number): KnownProject | null
}
