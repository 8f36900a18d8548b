// What goes together with a model: queries are of events, filters of the properties of events or persons, and an HTTP
// destination takes events. Filters of sessions are accepted, as PostHog does, and have no effect.

import { ServiceError } from '../errors.ts'
import type { Model } from './delivery.ts'
import type { BuiltType } from './destination-keys.ts'
import { checkFilters } from './event-conditions.ts'

/** Columns of `batch_export`. */
export interface ModelUse {
  readonly model: Model
  readonly destination_type: BuiltType
  readonly hogql_query: string | null
  readonly filters: unknown
}

/** Errors: invalid_input for what the model cannot be exported with. */
export function checkModel({ model, destination_type, hogql_query, filters }: ModelUse): void {
  if (model !== 'sessions') checkFilters(model, filters)
  if (model === 'events') return
  if (destination_type === 'HTTP')
    throw fault(
      'destination',
      `An HTTP destination takes events, not ${model}. Choose S3, Postgres or Redshift.`,
    )
  if (hogql_query !== null)
    throw fault('hogql_query', `A query selects from events, so the model has to be events, not ${model}.`)
}

/** A sentence for the export's log about what has no effect; null when everything has. */
export function remarkOf({ model, filters }: Pick<ModelUse, 'model' | 'filters'>): string | null {
  const isEmpty = filters === null || Object.keys(Object(filters)).length === 0
  if (model !== 'sessions' || isEmpty) return null
  return 'The filters have no effect on sessions: they are for events and persons.'
}

function fault(attr: string, detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail, attr })
}
