// What an error means for the step it broke.

import { isServiceError } from '../errors.ts'
import { isTransient, sqlState } from '../postgres/pool.ts'

/** The fold threw: the events of the step are at fault, or we are. */
export class FoldError extends Error {
  constructor(cause: unknown) {
    super(`the fold failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'FoldError'
  }
}

/**
 * - poison: values that cannot be folded or stored; if that repeats on one event alone, the event is at fault.
 * - transient: the connection, a conflict, resources, another consumer, or a database in a state that only its owner
 *   can change. The same step may succeed later.
 * - bug: anything else. Trying again would not help, and going on would skip something.
 */
export type Failure = 'poison' | 'transient' | 'bug'

export function failureOf(error: unknown): Failure {
  if (error instanceof FoldError) return 'poison'
  if (isServiceError(error, 'store_fenced') || isTransient(error)) return 'transient'
  const state = sqlState(error)
  // The journal or the quarantine could not be read or written.
  const isOfSystem = error instanceof Error && 'syscall' in error
  if (state === null) return isOfSystem ? 'transient' : 'bug'
  // Data exceptions, violated constraints, and values beyond a limit of the server's (an index entry too long).
  return /^(22|23|54)/.test(state) ? 'poison' : 'transient'
}
