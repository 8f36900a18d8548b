// A cohort written out in a flag's own conditions, for SDKs that evaluate by themselves and are sent no cohorts. The
// conditions of a flag are joined by OR and a condition's properties by AND, so a condition that is about nothing but
// one cohort can be replaced by as many as the cohort has alternatives, at the same place.

import type { CohortDefinition, FlagFilters } from './definition.ts'
import { type JsonObject, listIn, numberIn, objectIn } from './json-value.ts'
import { referencesIn } from './references.ts'

/** More conditions are not made of one. */
const alternativesMax = 50

/** `filters` with its one cohort written out; as they are where that cannot be done. */
export function withCohortExpanded(
  filters: FlagFilters,
  cohorts: ReadonlyMap<number, CohortDefinition>,
): FlagFilters {
  const { cohortIds } = referencesIn(filters)
  const [id] = cohortIds
  if (id === undefined || cohortIds.size > 1) return filters
  const tree = objectIn(cohorts.get(id)?.properties)
  const alternatives = tree === null ? null : alternativesOf(tree)
  if (alternatives === null || alternatives.length === 0 || alternatives.length > alternativesMax)
    return filters
  const groups: unknown[] = []
  for (const condition of listIn(filters.groups)) {
    const properties = listIn(objectIn(condition)?.properties)
    const cohort = properties.map(objectIn).find((one) => one?.type === 'cohort')
    if (cohort === undefined || cohort === null) groups.push(condition)
    else if (properties.length > 1 || isNegated(cohort) || numberIn(cohort.value) !== id) return filters
    else groups.push(...alternatives.map((one) => ({ ...objectIn(condition), properties: one })))
  }
  // Conditions as they were stored, or the same with other properties.
  return { ...filters, groups: groups as NonNullable<FlagFilters['groups']> }
}

/** Lists of properties of which one list must match as a whole; null for what cannot be said so. */
function alternativesOf(node: JsonObject): JsonObject[][] | null {
  if (node.type !== 'AND' && node.type !== 'OR') {
    const isPlain = (node.type ?? 'person') === 'person' && !isNegated(node)
    return isPlain ? [[node]] : null
  }
  const parts = listIn(node.values).map((value) => {
    const inner = objectIn(value)
    return inner === null ? null : alternativesOf(inner)
  })
  const alternatives: JsonObject[][] = []
  for (const part of parts) {
    if (part === null || part.length === 0) return null
    if (node.type === 'AND' && part.length > 1) return null
    alternatives.push(...part)
  }
  return node.type === 'AND' && alternatives.length > 0 ? [alternatives.flat()] : alternatives
}

function isNegated({ negation, operator }: JsonObject): boolean {
  return negation === true || operator === 'not_in'
}
