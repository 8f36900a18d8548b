// What management refuses about a flag's filters. What they name (cohorts, other flags) is looked up elsewhere.

import { checkProperty, type FilterType, filterFault } from './check-property.ts'
import { type JsonObject, objectIn } from './json-value.ts'

/** Of one flag. */
const conditionsMax = 200
const propertiesMax = 100
const variantsMax = 100
const variantKeyCharsMax = 400
/** Percentages are summed as doubles: 33.33 + 33.33 + 33.34 need not be 100 to the last bit. */
const percentageSlack = 1e-6

const personTypes: readonly FilterType[] = ['person', 'cohort', 'flag']
const groupTypes: readonly FilterType[] = ['group', 'flag']

/** Errors: invalid_input for the field `filters`, for the first fault. */
export function checkFlagFilters(filters: JsonObject): void {
  const variantKeys = checkVariants(filters.multivariate)
  const groupTypeIndex = checkGroupTypeIndex(filters, 'aggregation_group_type_index', null)
  for (const name of ['groups', 'super_groups', 'holdout_groups']) {
    const conditions = filters[name] ?? []
    if (!Array.isArray(conditions)) throw filterFault(`${name} must be a list`)
    if (conditions.length > conditionsMax) throw filterFault(`${name} has more than ${conditionsMax} entries`)
    for (const [index, condition] of conditions.entries())
      checkCondition(condition, { path: `${name}[${index}]`, variantKeys, groupTypeIndex, name })
  }
  checkHoldout(filters.holdout ?? null)
  if (typeof (filters.early_exit ?? false) !== 'boolean') throw filterFault('early_exit must be a boolean')
  checkPayloads(filters.payloads, variantKeys)
}

function checkHoldout(given: unknown): void {
  if (given === null) return
  const { id, exclusion_percentage } = objectIn(given) ?? {}
  if (!Number.isSafeInteger(id)) throw filterFault('holdout must be an object with an integer id')
  if (typeof exclusion_percentage !== 'number')
    throw filterFault('holdout.exclusion_percentage must be a number from 0 to 100')
  checkPercentage(exclusion_percentage, 'holdout.exclusion_percentage')
}

interface ConditionPlace {
  readonly path: string
  /** Of the list it is in. */
  readonly name: string
  readonly variantKeys: ReadonlySet<string>
  readonly groupTypeIndex: number | null
}

function checkCondition(given: unknown, { path, name, variantKeys, ...flag }: ConditionPlace): void {
  const condition = objectIn(given)
  if (condition === null) throw filterFault(`${path} must be an object`)
  const { properties, rollout_percentage, variant } = condition
  checkPercentage(rollout_percentage ?? null, `${path}.rollout_percentage`)
  // Whoever is held out may get a value that is no variant.
  if (name !== 'holdout_groups' && (variant ?? '') !== '' && !variantKeys.has(String(variant)))
    throw filterFault(`${path}.variant does not exist in multivariate variants`)
  const groupTypeIndex = checkGroupTypeIndex(
    condition,
    `${path}.aggregation_group_type_index`,
    flag.groupTypeIndex,
  )
  const list = properties ?? []
  if (!Array.isArray(list)) throw filterFault(`${path}.properties must be a list`)
  if (list.length > propertiesMax)
    throw filterFault(`${path}.properties has more than ${propertiesMax} entries`)
  const types = groupTypeIndex === null ? personTypes : groupTypes
  for (const [index, filter] of list.entries())
    checkProperty(filter, { path: `${path}.properties[${index}]`, types, groupTypeIndex })
}

function checkGroupTypeIndex(holder: JsonObject, path: string, otherwise: number | null): number | null {
  const index = holder.aggregation_group_type_index ?? null
  if (index === null) return otherwise
  if (index === 0 || index === 1 || index === 2 || index === 3 || index === 4) return index
  throw filterFault(`${path} must be an integer from 0 to 4, or null`)
}

function checkPercentage(value: unknown, path: string): void {
  if (value === null) return
  if (typeof value !== 'number' || value < 0 || value > 100)
    throw filterFault(`${path} must be a number from 0 to 100, or null`)
}

/** Returns the keys of the variants. */
function checkVariants(multivariate: unknown): Set<string> {
  const keys = new Set<string>()
  if (multivariate === undefined || multivariate === null) return keys
  const variants = objectIn(multivariate)?.variants ?? (objectIn(multivariate) === null ? null : [])
  if (!Array.isArray(variants)) throw filterFault('multivariate must be an object with a list of variants')
  if (variants.length > variantsMax)
    throw filterFault(`multivariate.variants has more than ${variantsMax} entries`)
  let total = 0
  for (const [index, given] of variants.entries()) {
    const path = `multivariate.variants[${index}]`
    const { key, rollout_percentage } = objectIn(given) ?? {}
    if (typeof key !== 'string' || key === '' || key.length > variantKeyCharsMax)
      throw filterFault(`${path}.key must be a string of 1 to ${variantKeyCharsMax} characters`)
    if (keys.has(key)) throw filterFault(`${path}.key is another variant's`)
    keys.add(key)
    checkPercentage(rollout_percentage ?? Number.NaN, `${path}.rollout_percentage`)
    total += Number(rollout_percentage)
  }
  // NaN compares false with everything, so the sum is asked whether it is right, not whether it is wrong.
  if (keys.size > 0 && !(Math.abs(total - 100) <= percentageSlack))
    throw filterFault('variant rollout percentages must sum to 100')
  return keys
}

function checkPayloads(payloads: unknown, variantKeys: ReadonlySet<string>): void {
  if (payloads === undefined || payloads === null) return
  const byKey = objectIn(payloads)
  if (byKey === null) throw filterFault('payloads must be an object')
  for (const [key, payload] of Object.entries(byKey)) {
    if (variantKeys.size > 0 && !variantKeys.has(key))
      throw filterFault('payload keys must match a variant key for multivariate flags')
    if (variantKeys.size === 0 && key !== 'true')
      throw filterFault('payload keys must be "true" for boolean flags')
    if (typeof payload === 'string' && !isJson(payload))
      throw filterFault(`the payload of ${JSON.stringify(key)} is not valid JSON`)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // that is the answer
  }
}
