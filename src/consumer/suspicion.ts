// Finds the row that keeps a transaction from loading, by halving.
//
// After a transaction failed on its values, so many rows of a lane are suspects. Each try takes half of them: a half
// that loads leaves the other, a half that fails becomes the suspects. A single suspect goes alone, value by value; if
// it fails again it is condemned, and the next try sets it aside. Innocent rows load, in order, all the while.

import type { Lane } from '../journal/journal.ts'

/** Immutable: each try makes the next. */
export interface Suspicion {
  readonly lane: Lane
  /** The row at fault is among the next so many. */
  readonly rows: number
  /** What the single suspect failed with when it went alone; null while nothing is condemned. */
  readonly condemned: { readonly error: unknown } | null
}

/** How many rows the next try takes. */
export function tryRows(suspicion: Suspicion): number {
  return Math.max(1, Math.floor(suspicion.rows / 2))
}

/** After a try over `rows` rows of `lane` failed on its values with `error`. */
export function suspect(before: Suspicion | null, lane: Lane, rows: number, error: unknown): Suspicion {
  const wentAlone = before !== null && rows === 1
  return { lane, rows, condemned: wentAlone ? { error } : null }
}

/** After a try loaded or set aside `rows` rows. Null when nothing is left to suspect. */
export function acquit(before: Suspicion, rows: number): Suspicion | null {
  const isOver = before.condemned !== null || before.rows <= rows
  return isOver ? null : { ...before, rows: before.rows - rows }
}
