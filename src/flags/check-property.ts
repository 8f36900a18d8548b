// What management refuses about a single filter. Evaluation takes anything and matches nobody where it makes no sense;
// here its author is told instead.

import { ServiceError } from '../errors.ts'
import { type JsonObject, numberIn, objectIn } from './json-value.ts'
import { comparesMoments } from './moment.ts'
import { compilePattern } from './pattern.ts'
import { comparesVersions, type SemverOperator } from './semver.ts'

export type FilterType = 'person' | 'group' | 'cohort' | 'flag'

/** Where a filter stands. */
export interface FilterPlace {
  /** Such as `groups[0].properties[1]`. */
  readonly path: string
  readonly types: readonly FilterType[]
  /** Of a filter on a group; null where groups are not what it is about. */
  readonly groupTypeIndex: number | null
}

/** Largest Postgres integer. */
const idMax = 2_147_483_647
const keyCharsMax = 400
/** Values of one filter: longer lists belong into a static cohort. */
const valuesMax = 10_000

/** What the value of an operator has to be, or null when it may be anything but a tree. */
const checksByOperator: ReadonlyMap<string, ((value: unknown) => string | null) | null> = new Map([
  ['exact', null],
  ['is_not', null],
  ['icontains', oneScalar],
  ['not_icontains', oneScalar],
  ['starts_with', oneScalar],
  ['not_starts_with', oneScalar],
  ['ends_with', oneScalar],
  ['not_ends_with', oneScalar],
  ['regex', pattern],
  ['not_regex', pattern],
  ['gt', number],
  ['gte', number],
  ['lt', number],
  ['lte', number],
  ['is_date_exact', moment],
  ['is_date_before', moment],
  ['is_date_after', moment],
  ...(['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'tilde', 'caret'] as const).map(
    (name) => [`semver_${name}`, version] as const,
  ),
  ['semver_wildcard', versionWildcard],
])

/** Errors: invalid_input for the field `filters`, saying where and what. */
export function checkProperty(given: unknown, place: FilterPlace): void {
  const { path, types } = place
  const filter = objectIn(given)
  if (filter === null) throw filterFault(`${path} must be an object`)
  const type = filter.type ?? 'person'
  if (!types.includes(type as FilterType)) {
    // compared, not believed
    throw filterFault(`${path}.type must be ${listed(types)}, not ${shown(type)}`)
  }
  if (type === 'cohort') checkCohort(filter, path)
  else if (type === 'flag') checkFlag(filter, path)
  else {
    if (type === 'group') checkGroup(filter, place)
    checkKey(filter, path)
    checkOperator(filter, path)
  }
  if (typeof (filter.negation ?? false) !== 'boolean') throw filterFault(`${path}.negation must be a boolean`)
}

/** The error of a filter that cannot be stored. */
export function filterFault(detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail: `Filters are not valid: ${detail}.`, attr: 'filters' })
}

function checkKey({ key }: JsonObject, path: string): void {
  if (typeof key !== 'string' || key === '') throw filterFault(`${path}.key must be a string`)
  if (key.length > keyCharsMax) throw filterFault(`${path}.key is longer than ${keyCharsMax} characters`)
}

function checkCohort({ key, value, operator }: JsonObject, path: string): void {
  if ((key ?? 'id') !== 'id') throw filterFault(`${path}.key of a cohort must be "id"`)
  if (!isId(value)) throw filterFault(`${path}.value must be the id of a cohort`)
  const known = ['in', 'not_in', 'exact']
  if (!known.includes((operator ?? 'in') as string))
    // compared, not believed
    throw filterFault(`${path}.operator of a cohort must be in or not_in`)
}

function checkFlag({ key, value, operator }: JsonObject, path: string): void {
  if (!isId(key)) throw filterFault(`${path}.key must be the id of a flag`)
  if (operator !== 'flag_evaluates_to')
    throw filterFault(`${path}.operator of a flag must be flag_evaluates_to`)
  if (typeof value !== 'boolean' && (typeof value !== 'string' || value === ''))
    throw filterFault(`${path}.value must be true, false or the key of a variant`)
}

function checkGroup({ group_type_index }: JsonObject, { path, groupTypeIndex }: FilterPlace): void {
  if ((group_type_index ?? groupTypeIndex) === groupTypeIndex) return
  throw filterFault(`${path}.group_type_index must be ${groupTypeIndex}, as its flag's or condition's`)
}

function checkOperator({ operator, value }: JsonObject, path: string): void {
  if (operator === 'is_set' || operator === 'is_not_set') return
  const check =
    typeof (operator ?? 'exact') === 'string' ? checksByOperator.get(String(operator ?? 'exact')) : undefined
  if (check === undefined) throw filterFault(`${path}.operator ${shown(operator)} is not known`)
  if (value === undefined || value === null) throw filterFault(`${path}.value is missing`)
  const values = Array.isArray(value) ? value : [value]
  if (values.length > valuesMax) throw filterFault(`${path}.value has more than ${valuesMax} entries`)
  if (values.some((one) => typeof one === 'object' && one !== null))
    throw filterFault(`${path}.value must be a string, a number, a boolean or a list of those`)
  const problem = check?.(value) ?? null
  if (problem !== null) throw filterFault(`${path}.value must be ${problem}, not ${shown(value)}`)
}

function oneScalar(value: unknown): string | null {
  return Array.isArray(value) ? 'one string' : null
}

function pattern(value: unknown): string | null {
  const isPattern = !Array.isArray(value) && compilePattern(String(value)) !== null
  return isPattern ? null : 'a regular expression in RE2 syntax of moderate size'
}

function number(value: unknown): string | null {
  return Number.isNaN(numberIn(value)) ? 'a number' : null
}

function moment(value: unknown): string | null {
  // A test that everything passes which is a moment; 1970 is one.
  const isMoment = comparesMoments(value, () => true)(0, 0)
  return isMoment ? null : 'a date, or a distance into the past such as -7d'
}

function version(value: unknown): string | null {
  const either: readonly SemverOperator[] = ['eq', 'neq'] // one of them holds, if it is a version
  return either.some((operator) => comparesVersions(value, operator)('0.0.0'))
    ? null
    : 'a version such as 1.2.3'
}

function versionWildcard(value: unknown): string | null {
  const stem = String(value).replace(/[.*]+$/, '')
  return comparesVersions(value, 'wildcard')(stem) ? null : 'a version such as 1.2.*'
}

function isId(value: unknown): boolean {
  return !Array.isArray(value) && /^[1-9]\d{0,9}$/.test(String(value)) && Number(value) <= idMax
}

function listed(words: readonly string[]): string {
  return words.join(' or ')
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100)
}
