// A project's definitions for SDKs that evaluate flags by themselves, in upstream's shape: all flags that are not
// deleted, the inactive ones included, because another flag may depend on one. Remote configuration is left out.

import { createHash } from 'node:crypto'
import { withCohortExpanded } from './cohort-expansion.ts'
import type { CohortDefinition, FlagDefinition, ProjectDefinitions } from './definition.ts'
import { type JsonObject, listIn, memberOf, objectIn } from './json-value.ts'
import { referencesIn } from './references.ts'

export interface LocalEvaluation {
  /** JSON. */
  readonly text: string
  /** Of this text, in quotes. */
  readonly etag: string
}

interface Texts {
  plain: LocalEvaluation | null
  withCohorts: LocalEvaluation | null
}

/** Definitions are of one project, and never change. */
const made = new WeakMap<ProjectDefinitions, Texts>()

/** Returns the answer, made once for each state of the definitions. */
export function localEvaluation(
  projectId: number,
  definitions: ProjectDefinitions,
  sendsCohorts: boolean,
): LocalEvaluation {
  const texts = made.get(definitions) ?? { plain: null, withCohorts: null }
  made.set(definitions, texts)
  const name = sendsCohorts ? 'withCohorts' : 'plain'
  texts[name] ??= tagged(JSON.stringify(bodyOf(projectId, definitions, sendsCohorts)))
  return texts[name]
}

function bodyOf(projectId: number, definitions: ProjectDefinitions, sendsCohorts: boolean): object {
  const byId = new Map(definitions.flags.map((flag) => [flag.id, flag]))
  const flags = definitions.flags.filter((flag) => !flag.isRemoteConfiguration)
  return {
    flags: flags.map((flag) => ({
      id: flag.id,
      team_id: projectId,
      name: flag.name,
      key: flag.key,
      filters: filtersOf(flag, definitions, byId, sendsCohorts),
      deleted: false,
      active: flag.active,
      ensure_experience_continuity: flag.ensureExperienceContinuity,
      version: flag.version,
      has_encrypted_payloads: flag.hasEncryptedPayloads,
      evaluation_runtime: flag.evaluationRuntime,
      evaluation_tags: flag.evaluationTags,
      bucketing_identifier: flag.bucketingIdentifier,
    })),
    group_type_mapping: Object.fromEntries(definitions.groupTypes),
    cohorts: sendsCohorts ? cohortsOf(flags, definitions.cohorts) : {},
  }
}

function filtersOf(
  flag: FlagDefinition,
  { cohorts }: ProjectDefinitions,
  byId: ReadonlyMap<number, FlagDefinition>,
  sendsCohorts: boolean,
): object {
  const filters = sendsCohorts ? flag.filters : withCohortExpanded(flag.filters, cohorts)
  const chained = withDependencyChains(filters, flag.id, byId)
  // What is encrypted at rest is in no answer but that of remote_config.
  return flag.hasEncryptedPayloads ? { ...chained, payloads: {} } : chained
}

/** Names flags by key, and with each the flags to be evaluated before it and itself, in that order. */
function withDependencyChains(
  filters: object,
  flagId: number,
  byId: ReadonlyMap<number, FlagDefinition>,
): object {
  if (referencesIn(filters).flagIds.size === 0) return filters
  return Object.fromEntries(
    Object.entries(filters).map(([name, conditions]) => [
      name,
      name === 'groups' || name === 'super_groups' ? listIn(conditions).map(chainedCondition) : conditions,
    ]),
  )

  function chainedCondition(condition: unknown): unknown {
    const properties = memberOf(objectIn(condition), 'properties')
    if (!Array.isArray(properties)) return condition
    return {
      ...objectIn(condition),
      properties: properties.map((one) => chainedProperty(objectIn(one) ?? {})),
    }
  }

  function chainedProperty(property: JsonObject): JsonObject {
    if (property.type !== 'flag') return property
    const id = Number(property.key)
    const chain = dependencyChain(id, flagId, byId)
    return { ...property, key: byId.get(id)?.key ?? String(property.key), dependency_chain: chain ?? [] }
  }
}

/**
 * Keys of the flags that `id` depends on, and its own at the end; null when one of them is `ownId`, or is not there.
 */
function dependencyChain(
  id: number,
  ownId: number,
  byId: ReadonlyMap<number, FlagDefinition>,
): string[] | null {
  const keys = new Set<string>()
  const open = new Set<number>([ownId])
  const visit = (one: number): boolean => {
    const flag = byId.get(one)
    if (flag === undefined || open.has(one)) return false
    if (keys.has(flag.key)) return true
    open.add(one)
    for (const next of referencesIn(flag.filters).flagIds) if (!visit(next)) return false
    open.delete(one)
    keys.add(flag.key)
    return true
  }
  return visit(id) ? [...keys] : null
}

/** Trees of the dynamic cohorts that flags need, those within cohorts included. */
function cohortsOf(
  flags: readonly FlagDefinition[],
  cohorts: ReadonlyMap<number, CohortDefinition>,
): Record<string, unknown> {
  const needed: Record<string, unknown> = {}
  const rest = flags.flatMap((flag) => [...referencesIn(flag.filters).cohortIds])
  while (rest.length > 0) {
    const id = rest.pop()
    const cohort = id === undefined ? undefined : cohorts.get(id)
    if (cohort === undefined || cohort.isStatic || cohort.properties === null || String(cohort.id) in needed)
      continue
    needed[String(cohort.id)] = cohort.properties
    rest.push(...referencesIn(cohort.properties).cohortIds)
  }
  return needed
}

function tagged(text: string): LocalEvaluation {
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` }
}
