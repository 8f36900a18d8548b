// How far a store has come in each lane of the journal.

import { type Lane, lanes, type Position } from '../journal/journal.ts'

/** The next event to apply: event `index` of the record at `position`. */
export interface Offset {
  readonly position: Position
  readonly index: number
}

export type Offsets = Readonly<Record<Lane, Offset>>
export type Positions = Readonly<Record<Lane, Position>>

/** How lanes are written in the store. */
export const laneNumbers: Readonly<Record<Lane, number>> = { realtime: 0, historical: 1 }

/** The first position of every lane. */
export const origin = 0 as Position // a lane's addresses start at 0

export const originOffset: Offset = { position: origin, index: 0 }

/** Calls `make` for every lane. */
export function forLanes<T>(make: (lane: Lane) => T): Record<Lane, T> {
  const made: Partial<Record<Lane, T>> = {}
  for (const lane of lanes) made[lane] = make(lane)
  return made as Record<Lane, T> // the loop above filled every lane
}

export function sameOffset(left: Offset, right: Offset): boolean {
  return left.position === right.position && left.index === right.index
}

/** The records that the offsets stand at. */
export function positionsOf(offsets: Offsets): Positions {
  return forLanes((lane) => offsets[lane].position)
}
