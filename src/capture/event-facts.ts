// What an event's record tells of single values when it was scanned in WebAssembly (wasm/event-facts.ts, event-ids.ts),
// read in place of the text. Where something is not told, as of no event with an escape in its name, the text says it.

import type { Micros } from '../lib/clock.ts'
import type { KnownRun } from './known-run.ts'
import {
  bornIdCell,
  bornIdFact,
  daysCell,
  dedupKeyCell,
  dedupKeyFact,
  idCell,
  idSizeWord,
  millisCell,
  nameCell,
  nameSizeCell,
  textsFact,
  timeFact,
  uuidCell,
  uuidFact,
} from './run-layout.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'

const microsPerDay = 86_400_000_000

/** Adds to the records of a tape what follows from their ids as events of this project. `used` is the tape's. */
export function addIds({ passes }: KnownRun, used: number, projectId: number): void {
  if (passes !== null) passes.addIds(used, projectId)
}

/** Copies the sender's uuid to four words of `target`. Returns false when it is not told. */
export function copyUuid({ facts, cells, at }: EventSpans, target: Int32Array, to: number): boolean {
  if ((facts & uuidFact) === 0) return false
  copyFour(cells, at + uuidCell, target, to)
  return true
}

/** Copies the born id to four words of `target`. Returns false when it is not told. */
export function copyBornId({ facts, cells, at }: EventSpans, target: Int32Array, to: number): boolean {
  if ((facts & bornIdFact) === 0) return false
  copyFour(cells, at + bornIdCell, target, to)
  return true
}

/** Copies the key of an event with a uuid to two words of `target`. Returns false when it is not told. */
export function copyDedupKey({ facts, cells, at }: EventSpans, target: Uint32Array, to: number): boolean {
  if ((facts & dedupKeyFact) === 0) return false
  target[to] = cells[at + dedupKeyCell]!
  target[to + 1] = cells[at + dedupKeyCell + 1]!
  return true
}

/** Appends the distinct_id to `target`. Returns false when it is not told. */
export function appendId({ facts, cells, at }: EventSpans, target: TextArena): boolean {
  if ((facts & textsFact) === 0) return false
  appendWords(cells, at + idCell, cells[at + idCell + idSizeWord]!, target)
  return true
}

/** Appends the event's name to `target`. Returns false when it is not told. */
export function appendName({ facts, cells, at }: EventSpans, target: TextArena): boolean {
  if ((facts & textsFact) === 0) return false
  appendWords(cells, at + nameCell, cells[at + nameSizeCell]!, target)
  return true
}

/** The event's `timestamp`, or null when it is not told. */
export function toldTimestamp({ facts, cells, at }: EventSpans): Micros | null {
  if ((facts & timeFact) === 0) return null
  const micros = cells[at + daysCell]! * microsPerDay + cells[at + millisCell]! * 1000
  return micros as Micros // both count from the epoch
}

/** Appends `size` bytes that stand in words. */
function appendWords(cells: Int32Array, at: number, size: number, target: TextArena): void {
  target.reserve(size + 3)
  const { view, size: to } = target
  for (let index = 0; index < size; index += 4) view.setInt32(to + index, cells[at + (index >> 2)]!, true)
  target.size = to + size
}

function copyFour(cells: Int32Array, at: number, target: Int32Array, to: number): void {
  target[to] = cells[at]!
  target[to + 1] = cells[at + 1]!
  target[to + 2] = cells[at + 2]!
  target[to + 3] = cells[at + 3]!
}
