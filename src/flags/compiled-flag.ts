// A flag ready to be evaluated: everything that does not depend on who asks is worked out here, once for each change
// of its definition.

import { flagPrefix } from './bucket.ts'
import { type BucketTable, noPlace } from './bucket-table.ts'
import type { CohortFault, Cohorts } from './cohort.ts'
import type { FlagDefinition } from './definition.ts'
import { type JsonObject, listIn, memberOf, numberIn, objectIn, textIn } from './json-value.ts'
import { type FlagFacts, type Outcome, outcomeOf, type Reason } from './outcome.ts'
import { groupTypeIndexIn, type PropertyChecks } from './property-check.ts'
import type { Circumstances } from './subject.ts'
import { allOf, type Check } from './truth.ts'

/** What another flag must have come to. */
export interface Dependency {
  readonly flagId: number
  /** true: on, whatever its variant; false: off; else the key of a variant. */
  readonly wanted: boolean | string
}

export interface CompiledCondition {
  readonly dependencies: readonly Dependency[]
  /** Properties and cohorts; null when there are none. */
  readonly check: Check<Circumstances> | null
  /** A cohort among them cannot be evaluated. */
  readonly fault: CohortFault | null
  /** From 0 to 1; 1 is everyone, however the hash falls. */
  readonly rollout: number
  /** Position of the variant everyone in it gets; -1: by hash. */
  readonly variantIndex: number
  /** Null: about persons. */
  readonly groupTypeIndex: number | null
}

export interface SuperCondition {
  readonly condition: CompiledCondition
  /** It counts for whoever has one of these properties. */
  readonly keys: readonly string[]
}

export interface Holdout {
  readonly rollout: number
  /** Position among `variantKeys` of the value of who is held out; -1: the variant by hash. */
  readonly variantIndex: number
}

export interface CompiledFlag extends FlagFacts {
  readonly definition: FlagDefinition
  /** Position among its project's active flags. */
  readonly position: number
  readonly prefix: Uint8Array
  /** In the project's table of buckets, for its rollouts and its variants. */
  readonly rolloutPlace: number
  readonly variantPlace: number
  readonly conditions: readonly CompiledCondition[]
  readonly superCondition: SuperCondition | null
  readonly holdout: Holdout | null
  /** Keys of the variants, then the holdout's value, which may be none of them. */
  readonly variantKeys: readonly string[]
  /** Where each variant's interval ends, exclusive. */
  readonly variantEnds: readonly number[]
  readonly groupTypeIndex: number | null
  readonly earlyExit: boolean
  /** It buckets by the device of a request that names one. */
  readonly isByDevice: boolean
  /** It keeps its value when a person is identified. */
  readonly isKept: boolean
  readonly staticCohortIds: ReadonlySet<number>
  /** Outcomes met so far, by a number for what tells them apart; others are absent. */
  readonly outcomes: (Outcome | undefined)[]
}

/** What the flags of a project have in common. */
export interface SharedParts {
  readonly cohorts: Cohorts
  readonly properties: PropertyChecks
  readonly buckets: BucketTable
}

const reasonNumbers: Readonly<Record<Reason, number>> = {
  no_condition_match: 0,
  out_of_rollout_bound: 1,
  no_group_type: 2,
  condition_match: 3,
  holdout_condition_value: 4,
  super_condition_value: 5,
}
const reasonCount = 6

/**
 * Most flags have none of these, and share one empty list: the thousand flags of a project do not fit into the nearest
 * caches, and each object less that an evaluation looks at is one less to fetch.
 */
const noDependencies: readonly Dependency[] = []
const noVariants: readonly never[] = []

/** On without a variant, and off, where the position of a variant stands. */
export const noVariant = -1
export const off = -2

/** Compiles a flag. */
export function compileFlag(
  definition: FlagDefinition,
  position: number,
  project: SharedParts,
): CompiledFlag {
  const filters = objectIn(definition.filters) ?? {}
  const variants = listIn(memberOf(objectIn(filters.multivariate), 'variants')).map(
    (one) => objectIn(one) ?? {},
  )
  const variantKeys = variants.map((one) => textIn(one.key))
  const groupTypeIndex = groupTypeIndexIn(filters.aggregation_group_type_index)
  const staticCohortIds = new Set<number>()
  const compile = (stored: unknown): CompiledCondition =>
    compileCondition(objectIn(stored) ?? {}, { ...project, variantKeys, groupTypeIndex, staticCohortIds })
  const { id, key, version } = definition
  const prefix = flagPrefix(key)
  const conditions = conditionsIn(filters).map(compile)
  const superCondition = superConditionIn(filters, compile)
  const held = holdoutIn(filters)
  const isPartial = [superCondition?.condition, ...conditions].some((one) => one && one.rollout < 1)
  return {
    id,
    key,
    version,
    definition,
    position,
    prefix,
    rolloutPlace: isPartial ? project.buckets.add(prefix, false) : noPlace,
    variantPlace: variants.length > 0 ? project.buckets.add(prefix, true) : noPlace,
    conditions,
    superCondition,
    holdout: held && { rollout: held.rollout, variantIndex: held.variant === '' ? -1 : variantKeys.length },
    variantKeys: held === null ? orShared(variantKeys) : [...variantKeys, held.variant],
    variantEnds: orShared(endsOf(variants)),
    groupTypeIndex,
    earlyExit: filters.early_exit === true,
    isByDevice: definition.bucketingIdentifier === 'device_id',
    isKept: definition.ensureExperienceContinuity,
    payloads: definition.hasEncryptedPayloads ? new Map() : payloadsIn(filters),
    staticCohortIds,
    outcomes: [],
  }
}

function orShared<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? noVariants : list
}

/** Returns the flag's one outcome of that kind. `variant` is a variant's position, `noVariant` or `off`. */
export function flagOutcome(
  flag: CompiledFlag,
  variant: number,
  reason: Reason,
  conditionIndex: number | null,
): Outcome {
  const index = conditionIndex ?? -1
  const id = ((index + 1) * reasonCount + reasonNumbers[reason]) * (flag.variantKeys.length + 2) + variant + 2
  let outcome = flag.outcomes[id]
  if (outcome === undefined) {
    const value = variant === off ? false : variant === noVariant ? true : flag.variantKeys[variant]!
    outcome = outcomeOf(flag, value, reason, conditionIndex)
    flag.outcomes[id] = outcome
  }
  return outcome
}

interface ConditionContext extends SharedParts {
  readonly variantKeys: readonly string[]
  readonly groupTypeIndex: number | null
  readonly staticCohortIds: Set<number>
}

/** Sorts the filters: other flags first, then properties, which cost nothing to read, then cohorts. */
function compileCondition(stored: JsonObject, context: ConditionContext): CompiledCondition {
  const groupTypeIndex = groupTypeIndexIn(stored.aggregation_group_type_index) ?? context.groupTypeIndex
  let dependencies = noDependencies
  const properties: Check<Circumstances>[] = []
  const cohorts: Check<Circumstances>[] = []
  let fault: CohortFault | null = null
  for (const filter of listIn(stored.properties).map((one) => objectIn(one) ?? {})) {
    if (filter.type === 'flag') dependencies = [...dependencies, dependencyIn(filter)]
    else if (filter.type === 'cohort') {
      const cohort = context.cohorts.membership(filter)
      if (cohort.kind === 'fault') fault ??= cohort.fault
      else {
        cohorts.push(cohort.check)
        for (const id of cohort.staticIds) context.staticCohortIds.add(id)
      }
    } else properties.push(context.properties.of(filter, groupTypeIndex))
  }
  const checks = [...properties, ...cohorts]
  return {
    dependencies,
    check: checks.length === 0 ? null : checks.length === 1 ? checks[0]! : allOf(checks),
    fault,
    rollout: rolloutIn(stored.rollout_percentage),
    variantIndex: context.variantKeys.indexOf(textIn(stored.variant)),
    groupTypeIndex,
  }
}

function dependencyIn(filter: JsonObject): Dependency {
  const wanted = filter.value
  return {
    flagId: numberIn(filter.key),
    wanted: typeof wanted === 'boolean' || typeof wanted === 'string' ? wanted : true,
  }
}

/** A percentage as a share of 1: none is everyone, and what is no number is nobody. */
function rolloutIn(percentage: unknown): number {
  if (percentage === null || percentage === undefined) return 1
  const share = numberIn(percentage) / 100
  return share >= 0 ? Math.min(share, 1) : -1
}

function conditionsIn(filters: JsonObject): readonly unknown[] {
  if (Array.isArray(filters.groups)) return filters.groups
  const { properties, rollout_percentage } = filters
  return properties === undefined && rollout_percentage === undefined
    ? []
    : [{ properties, rollout_percentage }]
}

function superConditionIn(
  filters: JsonObject,
  compile: (stored: unknown) => CompiledCondition,
): SuperCondition | null {
  const stored = objectIn(listIn(filters.super_groups)[0])
  const keys = listIn(stored?.properties).map((filter) => textIn(memberOf(objectIn(filter), 'key')))
  return stored === null || keys.length === 0 ? null : { condition: compile(stored), keys }
}

/**
 * The newer form is {id, exclusion_percentage}, and its value follows from its id. Of the older one only a holdout for
 * everyone is one: a condition of its own is not evaluated.
 */
function holdoutIn(filters: JsonObject): { rollout: number; variant: string } | null {
  const { id, exclusion_percentage } = objectIn(filters.holdout) ?? {}
  if (Number.isInteger(id)) {
    return { rollout: rolloutIn(exclusion_percentage ?? Number.NaN), variant: `holdout-${id}` }
  }
  const stored = objectIn(listIn(filters.holdout_groups)[0])
  if (stored === null || listIn(stored.properties).length > 0) return null
  return { rollout: rolloutIn(stored.rollout_percentage), variant: textIn(stored.variant) }
}

function endsOf(variants: readonly JsonObject[]): number[] {
  let end = 0
  return variants.map((one) => {
    end += numberIn(one.rollout_percentage) / 100 || 0
    return end
  })
}

function payloadsIn(filters: JsonObject): ReadonlyMap<string, string> {
  const stored = Object.entries(objectIn(filters.payloads) ?? {})
  return new Map(
    stored
      .filter(([, payload]) => payload !== null && payload !== undefined)
      .map(([key, payload]) => [key, typeof payload === 'string' ? payload : JSON.stringify(payload)]),
  )
}
