// Definitions and circumstances for tests of evaluation: what a test does not say is as harmless as can be.

import { compileProject } from '../../src/flags/compiled-project.ts'
import type {
  CohortDefinition,
  FlagDefinition,
  FlagFilters,
  ProjectDefinitions,
} from '../../src/flags/definition.ts'
import { Effort } from '../../src/flags/effort.ts'
import { Evaluation } from '../../src/flags/evaluate.ts'
import type { JsonObject } from '../../src/flags/json-value.ts'
import type { Outcome } from '../../src/flags/outcome.ts'
import type { Circumstances, Subject } from '../../src/flags/subject.ts'

/** An active flag of id 1, version 1. */
export function flag(
  key: string,
  filters: FlagFilters,
  more: Partial<Omit<FlagDefinition, 'key' | 'filters'>> = {},
): FlagDefinition {
  return {
    id: 1,
    name: '',
    active: true,
    version: 1,
    ensureExperienceContinuity: false,
    evaluationRuntime: 'all',
    evaluationTags: [],
    isRemoteConfiguration: false,
    hasEncryptedPayloads: false,
    bucketingIdentifier: 'distinct_id',
    ...more,
    key,
    filters,
  }
}

export function cohort(id: number, properties: CohortDefinition['properties']): CohortDefinition {
  return { id, isStatic: false, properties }
}

export function definitionsOf(
  flags: readonly FlagDefinition[],
  cohorts: readonly CohortDefinition[] = [],
): ProjectDefinitions {
  return {
    flags,
    cohorts: new Map(cohorts.map((one) => [one.id, one])),
    groupTypes: new Map([
      [0, 'company'],
      [1, 'team'],
    ]),
    earlyAccessFeatures: [],
  }
}

/** What a test says of who asks. */
export interface Asked {
  readonly id?: string
  /** Properties the request gives. */
  readonly given?: JsonObject
  readonly derived?: JsonObject
  /** Null: not read. */
  readonly stored?: JsonObject | null
  readonly groups?: Readonly<Record<number, { id: string; given?: JsonObject; stored?: JsonObject | null }>>
  readonly deviceId?: string
  readonly staticCohorts?: readonly number[] | null
  readonly hashKeys?: Readonly<Record<string, string>> | null
  readonly nowMs?: number
}

export function circumstancesOf(asked: Asked = {}): Circumstances {
  const { id = 'user1', given = null, derived = null, stored = {}, groups = {}, deviceId } = asked
  const { staticCohorts = [], hashKeys = {}, nowMs = Date.UTC(2024, 4, 1, 12) } = asked
  const group = (index: number): Subject | null => {
    const named = groups[index]
    if (named === undefined) return null
    const { given = null, stored = {} } = named
    const idBytes = Buffer.from(named.id)
    return { id: named.id, idBytes, idProperty: '$group_key', given, derived: null, stored }
  }
  return {
    person: { id, idBytes: Buffer.from(id), idProperty: 'distinct_id', given, derived, stored },
    groups: [0, 1, 2, 3, 4].map(group),
    deviceIdBytes: deviceId === undefined ? null : Buffer.from(deviceId),
    nowMs,
    effort: new Effort(),
    staticCohorts: staticCohorts && new Set(staticCohorts),
    hashKeys: hashKeys && new Map(Object.entries(hashKeys).map(([key, value]) => [key, Buffer.from(value)])),
  }
}

/** Evaluates every active flag. Null: it needs what was not read. */
export function evaluateAll(definitions: ProjectDefinitions, asked: Asked = {}): Map<string, Outcome | null> {
  const project = compileProject(definitions)
  const circumstances = circumstancesOf(asked)
  const evaluation = new Evaluation(project, circumstances)
  return new Map(
    project.flags.map((one) => {
      circumstances.effort.beginFlag()
      return [one.key, evaluation.outcome(one)]
    }),
  )
}

/** Evaluates one flag on its own. */
export function evaluateOne(one: FlagDefinition, asked: Asked = {}): Outcome | null {
  return evaluateAll(definitionsOf([one]), asked).get(one.key) ?? null
}

/** What a flag with these filters comes to. */
export function flagValue(key: string, filters: FlagFilters, asked: Asked = {}): boolean | string | null {
  return evaluateOne(flag(key, filters), asked)?.value ?? null
}

/** Filters of two variants at 50 %, and the like. */
export function variantsOf(
  shares: Readonly<Record<string, number>>,
): NonNullable<FlagFilters['multivariate']> {
  return {
    variants: Object.entries(shares).map(([key, rollout_percentage]) => ({ key, rollout_percentage })),
  }
}
