// Passes over the events of a step that surely do nothing: each repeats what its person has seen (person-digest.ts),
// and nothing else in the step touches that person. That is most events, and none of them becomes an object or a
// string: ids are compared as the born ids that the batch holds, in tables of words (uuid-table.ts).
//
// It takes two looks. The first passes over events whose owner is known and has seen them. What is left names ids whose
// owners the store may have to tell; the persons that these are, and those that are deleted, are touched, and the
// second look takes back what was passed over of them behind the first event that touches them, and reads no more than
// that. Before it they are as they were, and who repeats himself does nothing.
//
// Who identifies again as who he is repeats himself as well. Of the bench's events each thirtieth does: while all of
// those were read, they touched so many persons that 18 % of the events were folded in place of 6, and an event cost
// thread and Postgres 1.3 times as much.

import { type EventBatch, EventFlag } from '../capture/event-batch.ts'
import { placeOf } from '../identity/ids-to-load.ts'
import {
  addOperations,
  type EventsInput,
  type EventsRange,
  isDuplicate,
  kindOf,
  readOperations,
  type StepInput,
  type UnreadInput,
} from '../identity/operations.ts'
import { parseUuidText } from '../lib/uuid.ts'
import type { PersonCache } from './person-cache.ts'

/** A power of two, well above how many persons a step touches. */
const markCount = 1 << 15

interface Sifted {
  readonly range: EventsRange
  /** 1 for an event that is passed over. */
  readonly isPassed: Uint8Array
  /** Keys of the owners of events that are passed over. */
  readonly owners: Float64Array
  input: EventsInput
}

export class Repeats {
  readonly #cache: PersonCache
  readonly #inputs: (Sifted | StepInput)[]
  readonly #owner = new Uint32Array(4)

  constructor(cache: PersonCache, inputs: readonly UnreadInput[]) {
    this.#cache = cache
    this.#inputs = inputs.map((input) => (input.kind === 'events' ? this.#sift(input) : input))
  }

  /** The step as the fold must see it. */
  inputs(): StepInput[] {
    return this.#inputs.map((input) => ('range' in input ? input.input : input))
  }

  /**
   * Takes back the events of these persons, by uuid, from the place on that is told with each (placeOf). Returns
   * whether there were any.
   */
  takeBack(persons: Iterable<readonly [string, number]>): boolean {
    const touched = new Map<number, number>()
    const mayBeTouched = new Uint8Array(markCount)
    for (const [uuid, place] of persons) {
      parseUuidText(uuid, uuidBytes, 0)
      const key = keyOf(uuidWords)
      touched.set(key, Math.min(place, touched.get(key) ?? place))
      mayBeTouched[key & (markCount - 1)] = 1
    }
    let isAny = false
    for (const [number, sifted] of this.#inputs.entries()) {
      if (!('range' in sifted)) continue
      const { range, isPassed, owners } = sifted
      const taken: number[] = []
      for (let at = 0; at < isPassed.length; at++) {
        if (isPassed[at] === 0 || mayBeTouched[owners[at]! & (markCount - 1)] === 0) continue
        const first = touched.get(owners[at]!)
        if (first === undefined || placeOf(number, range.from + at) < first) continue
        isPassed[at] = 0
        taken.push(range.from + at)
      }
      if (taken.length === 0) continue
      sifted.input = addOperations(sifted.input, range, taken)
      isAny = true
    }
    return isAny
  }

  #sift(range: EventsRange): Sifted {
    const { batch, duplicates, from, to } = range
    const isPassed = new Uint8Array(to - from)
    const owners = new Float64Array(to - from)
    // A batch starts at a multiple of 8, its ids do too.
    const bornIds = new Uint32Array(batch.bornIds.buffer, batch.bornIds.byteOffset, to * 4)
    for (let index = from; index < to; index++) {
      if (isDuplicate(duplicates, index) || !this.#isRepeat(batch, bornIds, index)) continue
      isPassed[index - from] = 1
      owners[index - from] = keyOf(this.#owner)
    }
    return { range, isPassed, owners, input: readOperations(range, isPassed) }
  }

  /** True for an event whose owner has seen it, or that asks nothing of one; the owner is in #owner then. */
  #isRepeat(batch: EventBatch, bornIds: Uint32Array, index: number): boolean {
    if ((batch.flags[index]! & (EventFlag.anonymous | EventFlag.groups)) !== 0) return false
    if (!this.#cache.ownerOfBorn(bornIds, index * 4, this.#owner)) return false
    const digest = batch.digests[index]!
    // One that joins two ids is never seen, and says so in its column: nobody has seen another that says the same.
    if (digest > 0) return this.#cache.hasSeen(this.#owner, digest)
    const kind = kindOf(batch, index)
    return kind === 'plain' || kind === 'birth'
  }
}

const uuidWords = new Uint32Array(4)
const uuidBytes = new Uint8Array(uuidWords.buffer)

/** Two persons who share a key are touched together, which only costs a look. */
function keyOf(uuid: Uint32Array): number {
  return uuid[0]! * 0x20_0000 + (uuid[3]! >>> 11)
}
