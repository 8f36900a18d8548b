// The place in the outbox that a mirror must come to before more of it is read, in the words of a cursor's `rest`.
//
//   changes up to <seq> <mark>   the base is complete, and lacks what was changed while it was copied
//   step up to <seq> <mark>      the mirror has the begin of a step that is larger than a page; what it has of it is
//                                not read before the rest has come

import type { ChangesEnd } from '../persons/persons-store.ts'

/** The last change of a step, and what the outbox has marked it with; null when that is gone. */
export interface MarkedEnd extends ChangesEnd {
  readonly mark: string | null
}

/** `rest` of a mirror whose base is complete, and which lacks the changes up to `end`. */
export function restUpTo({ seq, mark }: MarkedEnd): string {
  return `changes up to ${seq} ${mark}`
}

/** `rest` of a mirror that lacks the rest of a step. */
export function restOfStep({ seq, mark }: Pick<MarkedEnd, 'seq' | 'mark'>): string {
  return `step up to ${seq} ${mark}`
}

/** The place that a mirror must come to; null for one whose base is not complete. */
export function goalOf(rest: string): Pick<MarkedEnd, 'seq' | 'mark'> | null {
  const [, seq, mark] = /^(?:changes|step) up to (\d+) ([-\w]+)$/.exec(rest) ?? []
  return seq === undefined || mark === undefined ? null : { seq: Number(seq), mark }
}

/** True when all that was there before the step is read meanwhile. */
export function isWithinStep(rest: string): boolean {
  return rest.startsWith('step ')
}
