// Parts of the statements that lists of persons and groups are read by: parameters, and text compared without case.

import { ServiceError } from '../errors.ts'

/** Values of a statement, in the order of their parameters; every value from outside goes through here. */
export class SqlValues {
  readonly list: (string | number | readonly string[])[] = []

  /** Adds a value and returns its placeholder, cast to `type`. */
  add(value: string | number | readonly string[], type: string): string {
    this.list.push(value)
    return `$${this.list.length}::${type}`
  }
}

/**
 * True where `text` contains `part`, without case; there are no wildcards. The embedded database's own collation folds
 * ASCII only, hence the named one.
 */
export function containsText(text: string, part: string): string {
  return `strpos(${folded(text)}, ${folded(part)}) > 0`
}

function folded(text: string): string {
  return `lower((${text}) collate "und-x-icu") collate "C"`
}

/**
 * `value` as it was sent: an id may begin or end with a space.
 * Errors: invalid_input for a NUL, which Postgres stores in no text.
 */
export function exactText(value: string, attr: string): string {
  if (!value.includes('\0')) return value
  throw new ServiceError('invalid_input', { detail: 'Null characters are not allowed.', attr })
}
