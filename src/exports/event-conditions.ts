// Which events or persons an export wants, as SQL over their rows: names of events to include or leave out, and filters
// of properties.

import { ServiceError } from '../errors.ts'
import {
  type Parameters,
  type PropertyFilter,
  type PropertyValue,
  propertyCondition,
  propertyOperators,
} from '../events/property-filter.ts'
import type { GivenConfig } from './destination.ts'

/** Whose properties filters are of. */
type Owner = 'event' | 'person'

/** By which filters the rows of a model are chosen; the first is meant where a filter does not say. */
const ownersOf = { events: ['event', 'person'], persons: ['person'] } as const
type FilteredModel = keyof typeof ownersOf

/**
 * Conditions of events that all must hold, without those of their persons. `parameters` gets their values.
 * Errors: invalid_input for filters nobody can read.
 */
export function eventConditions(config: GivenConfig, filters: unknown, parameters: Parameters): string[] {
  return [...nameConditions(config, parameters), ...conditionsOf('event', 'events', filters, parameters)]
}

/** The same for persons' own properties. */
export function personConditions(model: FilteredModel, filters: unknown, parameters: Parameters): string[] {
  return conditionsOf('person', model, filters, parameters)
}

/** Errors: invalid_input for filters by which rows of the model cannot be chosen. */
export function checkFilters(model: FilteredModel, filters: unknown): void {
  readFilters(filters, ownersOf[model])
}

function conditionsOf(
  owner: Owner,
  model: FilteredModel,
  filters: unknown,
  parameters: Parameters,
): string[] {
  return readFilters(filters, ownersOf[model])
    .filter((filter) => filter.owner === owner)
    .map((filter) => propertyCondition(filter, parameters))
}

/** Of these, what can be told without reading properties. */
export function nameConditions(config: GivenConfig, parameters: Parameters): string[] {
  const list = (names: readonly string[]): string =>
    names.map((name) => parameters.add(name, 'varchar')).join(', ')
  const included = namesOf(config.include_events)
  const excluded = namesOf(config.exclude_events)
  return [
    ...(included.length > 0 ? [`event in (${list(included)})`] : []),
    ...(excluded.length > 0 ? [`event not in (${list(excluded)})`] : []),
  ]
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

interface OwnedFilter extends PropertyFilter {
  readonly owner: Owner
}

/** A list of filters as PostHog's clients write it, `{type: 'AND', values: [...]}` around it or not. */
function readFilters(filters: unknown, owners: readonly [Owner, ...Owner[]]): OwnedFilter[] {
  if (filters === null || filters === undefined) return []
  if (!Array.isArray(filters)) {
    const group = filters as { type?: unknown; values?: unknown } // JSON that is no list
    const isEmpty = typeof filters === 'object' && Object.keys(filters).length === 0
    if (isEmpty) return []
    if (typeof filters !== 'object' || group.type !== 'AND') throw unreadable(owners)
    return readFilters(group.values, owners)
  }
  return filters.flatMap((filter: unknown) => {
    if (typeof filter !== 'object' || filter === null) throw unreadable(owners)
    const given = filter as Record<string, unknown> // JSON's
    const { key, value = null, operator = 'exact', type = owners[0], values } = given
    if (type === 'AND') return readFilters(values, owners)
    const owner = owners.find((one) => one === type)
    const known = propertyOperators.find((one) => one === operator)
    if (typeof key !== 'string' || owner === undefined || known === undefined || !isValue(value))
      throw unreadable(owners)
    return { owner, key, operator: known, value }
  })
}

function isValue(value: unknown): value is PropertyValue | readonly PropertyValue[] {
  if (Array.isArray(value)) return value.every((one) => !Array.isArray(one) && isValue(one))
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function unreadable(owners: readonly Owner[]): ServiceError {
  const detail =
    'The filters of this export cannot be used: expected a list of {key, value, operator, type}, where type is ' +
    `${owners.join(' or ')} and operator one of ${propertyOperators.join(', ')}.`
  return new ServiceError('invalid_input', { detail, attr: 'filters' })
}

/** The condition with its values written into it, for SQL that is parsed and printed again. */
export function inlined(condition: string, parameters: Parameters): string {
  return condition.replace(/\$(\d+)::(\w+)/g, (_, place: string, type: string) => {
    const value = parameters.values[Number(place) - 1] ?? null
    return value === null ? `null::${type}` : `'${String(value).replaceAll("'", "''")}'::${type}`
  })
}
