// The detail of what a check refuses.

import { isServiceError } from '../../src/errors.ts'

/** The detail of the validation error that `check` throws for the field `attr`, or null when it throws none. */
export function faultOf(check: () => void, attr: string): string | null {
  try {
    check()
    return null
  } catch (error) {
    if (isServiceError(error, 'invalid_input') && error.attr === attr) return error.detail
    throw error
  }
}
