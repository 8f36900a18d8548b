// PUT and PATCH of a resource: one change, described once. PUT wants what a new one has to have; PATCH wants nothing.
// What either leaves out stays as it is.

import type { TObject, TOptional, TSchema } from 'typebox'
import { partialOf } from './input-schema.ts'
import type { Operation } from './operation.ts'

interface Changes<T extends Record<string, TSchema>> {
  /** What may be written of the resource. */
  readonly input: TObject<T>
  /** Begins the operations' ids: `<name>_update` and `<name>_partial_update`. */
  readonly name: string
  /** Summaries. */
  readonly put: string
  readonly patch: string
}

/** The part of an operation that the two differ in. */
interface Change<T extends Record<string, TSchema>> {
  readonly method: 'PUT' | 'PATCH'
  readonly operationId: string
  readonly summary: string
  readonly body: TObject<{ [K in keyof T]: TOptional<T[K]> }>
}

/** Makes both by `make`. */
export function changeOperations<T extends Record<string, TSchema>>(
  { input, name, put, patch }: Changes<T>,
  make: (change: Change<T>) => Operation,
): Operation[] {
  // Whatever is read by the whole is also read by the part.
  const whole = input as TSchema as Change<T>['body']
  return [
    make({ method: 'PUT', operationId: `${name}_update`, summary: put, body: whole }),
    make({
      method: 'PATCH',
      operationId: `${name}_partial_update`,
      summary: patch,
      body: partialOf(input),
    }),
  ]
}
