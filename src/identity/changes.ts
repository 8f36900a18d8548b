// What a step changes: plain values, every row at most once and in its last state, ready for set-based SQL.
//
// To be applied in the order of the fields of Changes, in one transaction with the offset. A row that is deleted and
// born again within a step is in both lists: deletions come first.

import type { Group, Person } from './known.ts'

export interface Changes {
  /** Gone with everything that belongs to them. */
  readonly projectsDeleted: readonly number[]
  /** Deleted persons whose static cohort rows move to another; `into` is the last survivor. */
  readonly merges: readonly PersonMerge[]
  readonly personsDeleted: readonly PersonKey[]
  /** Born or changed persons, whole. */
  readonly persons: readonly Person[]
  readonly distinctIds: readonly DistinctId[]
  /** Ids whose person was deleted, whoever has them by now: what hangs on such an id goes. */
  readonly idsReleased: readonly ReleasedId[]
  readonly groupTypes: readonly GroupType[]
  /** Born or changed groups, whole. */
  readonly groups: readonly Group[]
  /** For the outbox, in this order. */
  readonly storeChanges: readonly StoreChange[]
  /** To be added to what is stored. */
  readonly usage: readonly Usage[]
  /** To be added to what is stored. */
  readonly warnings: readonly Warning[]
  readonly projectFlips: readonly ProjectFlip[]
}

export interface PersonKey {
  readonly projectId: number
  readonly uuid: string
}

export interface PersonMerge {
  readonly projectId: number
  readonly from: string
  readonly into: string
}

export interface DistinctId {
  readonly projectId: number
  readonly distinctId: string
  /** The person it belongs to from now on; null when its row is deleted. */
  readonly personUuid: string | null
}

export interface ReleasedId {
  readonly projectId: number
  readonly distinctId: string
}

export interface GroupType {
  readonly projectId: number
  readonly name: string
  readonly index: number
}

/** What the events store must hear of. */
export type StoreChange =
  /** Events born to `bornId` belong to `personUuid`. */
  | {
      readonly kind: 'override'
      readonly projectId: number
      readonly bornId: string
      readonly personUuid: string
    }
  | { readonly kind: 'group_type'; readonly projectId: number; readonly name: string; readonly index: number }
  /** Events born to `bornId` and received up to `deletedAtMs` are gone for every read. */
  | {
      readonly kind: 'person_tombstone'
      readonly projectId: number
      readonly bornId: string
      readonly deletedAtMs: number
    }

/** Events applied, by the UTC day they were received. Duplicates and dropped events are in neither. */
export interface Usage {
  readonly projectId: number
  /** YYYY-MM-DD */
  readonly day: string
  readonly billable: number
  readonly historical: number
}

/** Why an event did not change its person or group as it asked to. */
export type IdentityWarning =
  | 'cannot_merge_with_illegal_distinct_id'
  | 'cannot_merge_already_identified'
  | 'person_properties_trimmed'
  | 'person_properties_too_large'
  | 'group_properties_too_large'

export interface Warning {
  readonly projectId: number
  readonly reason: IdentityWarning | 'spike'
  readonly count: number
  readonly firstSeenMs: number
  readonly lastSeenMs: number
  /** The last such event, cut to 200 characters a field; no properties. */
  readonly sample: { readonly event: string; readonly distinctId: string; readonly detail: string }
}

/** Flags of a project that are true from now on; false says nothing. */
export interface ProjectFlip {
  readonly projectId: number
  readonly ingestedEvent: boolean
  readonly hasGroupTypes: boolean
}
