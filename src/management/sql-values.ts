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
 * ASCII only, hence the named ones: folding all of Unicode makes a search nearly three times as long, and an ASCII
 * part does not need it.
 */
export function containsText(text: string, part: string, values: SqlValues): string {
  const collation = /^[\x20-\x7e]*$/.test(part) ? 'C' : 'und-x-icu'
  const folded = (one: string): string => `lower((${one}) collate "${collation}") collate "C"`
  return `strpos(${folded(text)}, ${folded(values.add(part, 'text'))}) > 0`
}

/**
 * `value` as it was sent: an id may begin or end with a space.
 * Errors: invalid_input for a NUL, which Postgres stores in no text.
 */
export function exactText(value: string, attr: string): string {
  if (!value.includes('\0')) return value
  throw new ServiceError('invalid_input', { detail: 'Null characters are not allowed.', attr })
}
