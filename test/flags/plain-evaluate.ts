// The evaluation of flags as one would first write it down: from the stored definitions, with everything known
// beforehand, nothing compiled, nothing remembered. For the operators that arbitraries.ts makes.

import { createHash } from 'node:crypto'
import type {
  CohortGroup,
  FlagCondition,
  FlagDefinition,
  ProjectDefinitions,
  PropertyFilter,
} from '../../src/flags/definition.ts'

export interface PlainAsked {
  readonly id: string
  /** All layers in one. */
  readonly properties: Readonly<Record<string, unknown>>
  /** By group type index. */
  readonly groups: Readonly<Record<number, { id: string; properties: Readonly<Record<string, unknown>> }>>
  readonly staticCohorts: readonly number[]
  readonly hashKeys: Readonly<Record<string, string>>
}

/** Value and reason; a flag that cannot have a value throws. */
type Plain = readonly [value: boolean | string, reason: string]

class NoValue extends Error {}

/** Every active flag's value and reason; 'none' for those without a value. */
export function plainEvaluate(
  project: ProjectDefinitions,
  asked: PlainAsked,
): Record<string, Plain | 'none'> {
  const result: Record<string, Plain | 'none'> = {}
  for (const flag of project.flags.filter((one) => one.active)) {
    try {
      checkDependencies(project, flag, [])
      result[flag.key] = evaluate(project, asked, flag)
    } catch (error) {
      if (!(error instanceof NoValue)) throw error
      result[flag.key] = 'none'
    }
  }
  return result
}

function checkDependencies(
  project: ProjectDefinitions,
  flag: FlagDefinition,
  above: readonly number[],
): void {
  if (above.includes(flag.id)) throw new NoValue()
  const { groups, super_groups } = flag.filters
  const conditions = [...(groups ?? []), ...(super_groups ?? []).slice(0, 1)]
  for (const filter of conditions.flatMap((one) => one.properties ?? [])) {
    if (filter.type !== 'flag') continue
    const other = project.flags.find((one) => String(one.id) === filter.key)
    if (other === undefined) throw new NoValue()
    if (other.active) checkDependencies(project, other, [...above, flag.id])
  }
}

function evaluate(project: ProjectDefinitions, asked: PlainAsked, flag: FlagDefinition): Plain {
  const { filters } = flag
  const index = filters.aggregation_group_type_index ?? null
  const id = index === null ? asked.id : asked.groups[index]?.id
  if (id === undefined || id === '') return [false, 'no_group_type']
  const hashId = index === null && flag.ensureExperienceContinuity ? (asked.hashKeys[flag.key] ?? id) : id
  const variants = filters.multivariate?.variants ?? []
  const variantOf = (condition: FlagCondition): boolean | string => {
    const wanted = variants.find((one) => one.key === condition.variant)
    if (wanted) return wanted.key
    let end = 0
    for (const variant of variants) {
      end += variant.rollout_percentage / 100
      if (bucket(`${flag.key}.${hashId}variant`) < end) return variant.key
    }
    return true
  }
  const early = filters.super_groups?.[0]
  if (early?.properties?.some((one) => (one.key ?? '') in asked.properties)) {
    const met = meets(project, asked, flag, early, hashId) === 'met'
    return [met ? variantOf(early) : false, 'super_condition_value']
  }
  if (filters.holdout && bucket(`holdout-${hashId}`) <= filters.holdout.exclusion_percentage / 100) {
    return [`holdout-${filters.holdout.id}`, 'holdout_condition_value']
  }
  const holdout = filters.holdout ? null : filters.holdout_groups?.[0]
  if (holdout && bucket(`holdout-${hashId}`) <= (holdout.rollout_percentage ?? 100) / 100) {
    return [holdout.variant ?? variantOf({}), 'holdout_condition_value']
  }
  let reason = 'no_condition_match'
  for (const condition of filters.groups ?? []) {
    const met = meets(project, asked, flag, condition, hashId)
    if (met === 'met') return [variantOf(condition), 'condition_match']
    if (met === 'out_of_rollout_bound') reason = met
    if (met === 'out_of_rollout_bound' && filters.early_exit) break
  }
  return [false, reason]
}

function meets(
  project: ProjectDefinitions,
  asked: PlainAsked,
  flag: FlagDefinition,
  condition: FlagCondition,
  hashId: string,
): string {
  const groupIndex = flag.filters.aggregation_group_type_index ?? null
  let hasNoValue = false
  for (const filter of condition.properties ?? []) {
    try {
      if (!passes(project, asked, groupIndex, filter)) return 'no_condition_match'
    } catch (error) {
      if (!(error instanceof NoValue)) throw error
      hasNoValue = true
    }
  }
  if (hasNoValue) throw new NoValue()
  const rollout = condition.rollout_percentage ?? 100
  if (rollout === 100 || bucket(`${flag.key}.${hashId}`) <= rollout / 100) return 'met'
  return 'out_of_rollout_bound'
}

function passes(
  project: ProjectDefinitions,
  asked: PlainAsked,
  groupIndex: number | null,
  filter: PropertyFilter,
): boolean {
  if (filter.type === 'flag') {
    const other = project.flags.find((one) => String(one.id) === filter.key)!
    const value = other.active ? evaluate(project, asked, other)[0] : false
    return typeof filter.value === 'string' ? value === filter.value : (value !== false) === filter.value
  }
  if (filter.type === 'cohort') {
    checkCohort(project, Number(filter.value), [])
    return inCohort(project, asked, Number(filter.value)) !== (filter.operator === 'not_in')
  }
  const properties = groupIndex === null ? asked.properties : asked.groups[groupIndex]!.properties
  return matches(filter, properties)
}

/** A cohort that leads to one that does not exist, or to itself, has no members and no others. */
function checkCohort(project: ProjectDefinitions, id: number, above: readonly number[]): void {
  const cohort = project.cohorts.get(id)
  if (cohort === undefined || above.includes(id)) throw new NoValue()
  const visit = (node: CohortGroup | PropertyFilter): void => {
    if (isGroup(node)) for (const one of node.values ?? []) visit(one)
    else if (node.type === 'cohort') checkCohort(project, Number(node.value), [...above, id])
  }
  if (cohort.properties !== null) visit(cohort.properties)
}

function inCohort(project: ProjectDefinitions, asked: PlainAsked, id: number): boolean {
  const cohort = project.cohorts.get(id)!
  if (cohort.isStatic) return asked.staticCohorts.includes(id)
  const within = (node: CohortGroup | PropertyFilter): boolean => {
    if (isGroup(node)) {
      const inside = (node.values ?? []).map(within)
      if (inside.length === 0) return false
      return node.type === 'AND' ? inside.every(Boolean) : inside.some(Boolean)
    }
    const isIn =
      node.type === 'cohort' ? inCohort(project, asked, Number(node.value)) : matches(node, asked.properties)
    return isIn !== (node.negation === true)
  }
  return cohort.properties !== null && within(cohort.properties)
}

function isGroup(node: CohortGroup | PropertyFilter): node is CohortGroup {
  return node.type === 'AND' || node.type === 'OR'
}

function matches(filter: PropertyFilter, properties: Readonly<Record<string, unknown>>): boolean {
  const key = filter.key ?? ''
  const has = key in properties
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  const mine = text(properties[key])
  const wanted = text(filter.value)
  switch (filter.operator ?? 'exact') {
    case 'exact':
      return has && mine.toLowerCase() === wanted.toLowerCase()
    case 'is_not':
      return !has || mine.toLowerCase() !== wanted.toLowerCase()
    case 'icontains':
      return has && mine.toLowerCase().includes(wanted.toLowerCase())
    case 'not_icontains':
      return !has || !mine.toLowerCase().includes(wanted.toLowerCase())
    case 'regex':
      return has && new RegExp(wanted).test(mine)
    case 'gt':
      return has && Number.parseFloat(mine) > Number.parseFloat(wanted)
    case 'is_set':
      return has
    case 'is_not_set':
      return !has
    default:
      throw new Error(`the plain evaluation lacks ${filter.operator}`)
  }
}

function bucket(text: string): number {
  return Number.parseInt(createHash('sha1').update(text).digest('hex').slice(0, 15), 16) / 2 ** 60
}
