// What an administrator has defined in a project: its flags, its cohorts, its early access features, and the names of
// its group types. Definitions are loaded whole and never changed in place: when anything of a project changes, all of
// them are replaced by new objects, so whatever was derived from an object stays true for as long as it is referenced.
//
// Filters are JSON as it was stored. Management checks what it stores, yet imports and older versions may have left
// any field out, null, or of another type: whoever reads them treats every field as optional and trusts no type.

/** One condition on a property, a cohort or another flag. */
export interface PropertyFilter {
  /** Property name; `id` for a cohort; the other flag's id for a flag. */
  readonly key?: string
  /** Of any JSON type; a list means any of it. For a cohort: its id. */
  readonly value?: unknown
  /** Default `exact`. */
  readonly operator?: string | null
  /** Default `person`. */
  readonly type?: 'person' | 'group' | 'cohort' | 'flag' | null
  readonly group_type_index?: number | null
  /** Only within cohorts: turns the answer round. */
  readonly negation?: boolean | null
}

/** A condition set of a flag: all of its properties must match, then the rollout decides. */
export interface FlagCondition {
  /** None is everyone. */
  readonly properties?: readonly PropertyFilter[] | null
  /** 0 to 100; null is 100. */
  readonly rollout_percentage?: number | null
  /** Key of the variant that everyone in this condition gets. */
  readonly variant?: string | null
  readonly aggregation_group_type_index?: number | null
}

export interface FlagVariant {
  readonly key: string
  readonly name?: string | null
  readonly rollout_percentage: number
}

/** Conditions are tried in stored order. Without `groups` the flag is one condition of the legacy fields. */
export interface FlagFilters {
  readonly groups?: readonly FlagCondition[] | null
  readonly multivariate?: { readonly variants?: readonly FlagVariant[] | null } | null
  /** By `true` or a variant's key; in practice JSON as a string, but any JSON is legal. */
  readonly payloads?: Readonly<Record<string, unknown>> | null
  /** 0 to 4: the flag is about groups of that type; null: about persons. */
  readonly aggregation_group_type_index?: number | null
  /** Only the first counts: early access. */
  readonly super_groups?: readonly FlagCondition[] | null
  /** Who is held out of the flag, whatever its conditions; goes before `holdout_groups`, its older form. */
  readonly holdout?: { readonly id: number; readonly exclusion_percentage: number } | null
  /** Only the first counts. */
  readonly holdout_groups?: readonly FlagCondition[] | null
  /** A condition whose properties match and whose rollout does not ends the evaluation. */
  readonly early_exit?: boolean | null
  /** Legacy. */
  readonly properties?: readonly PropertyFilter[] | null
  /** Legacy. */
  readonly rollout_percentage?: number | null
}

/** A flag that is not deleted. */
export interface FlagDefinition {
  readonly id: number
  /** Unique among a project's flags, case sensitive. */
  readonly key: string
  /** What people call it; shown to those who may read flags only. */
  readonly name: string
  /** An inactive flag is absent from every evaluation. */
  readonly active: boolean
  /** 1 at birth, one more for every change. */
  readonly version: number
  readonly filters: FlagFilters
  /** A person keeps the value that their anonymous id had. */
  readonly ensureExperienceContinuity: boolean
  /** Who is meant to evaluate it. */
  readonly evaluationRuntime: 'server' | 'client' | 'all'
  /** A request that names contexts gets flags that carry one of them, or none at all. */
  readonly evaluationTags: readonly string[]
  /** Only a payload: read by `remote_config`. */
  readonly isRemoteConfiguration: boolean
  /** Its payload is a secret: it is in no public answer. */
  readonly hasEncryptedPayloads: boolean
  /** What persons are bucketed by. */
  readonly bucketingIdentifier: 'distinct_id' | 'device_id'
}

/** A tree of filters; `values` holds groups or filters. */
export interface CohortGroup {
  readonly type?: 'AND' | 'OR'
  readonly values?: readonly (CohortGroup | PropertyFilter)[]
}

/** A cohort that is not deleted. */
export interface CohortDefinition {
  readonly id: number
  /** Static: its members are rows of cohort_person (project_id, cohort_id, person_uuid). */
  readonly isStatic: boolean
  /** `filters.properties` as stored; null when there are none, and of a static cohort. */
  readonly properties: CohortGroup | null
}

export interface EarlyAccessFeatureDefinition {
  /** A UUID. */
  readonly id: string
  readonly name: string
  readonly description: string
  /** draft, concept, alpha, beta, general-availability, archived. */
  readonly stage: string
  /** '' when there is none. */
  readonly documentationUrl: string
  /** Key of its flag, null when there is none. */
  readonly flagKey: string | null
}

/** Everything evaluation needs to know of a project that no person can change. */
export interface ProjectDefinitions {
  /** In id order, inactive ones included. */
  readonly flags: readonly FlagDefinition[]
  readonly cohorts: ReadonlyMap<number, CohortDefinition>
  /** Name by index, 0 to 4. */
  readonly groupTypes: ReadonlyMap<number, string>
  readonly earlyAccessFeatures: readonly EarlyAccessFeatureDefinition[]
}

/** The definitions of all projects, in memory. */
export interface FlagDefinitions {
  /**
   * The current definitions of a project; empty ones when it has defined nothing. Null while they are not known:
   * the project is newer than the last load, or Postgres has been away since the start.
   */
  of(projectId: number): ProjectDefinitions | null
}
