// What requests of a workload say: a basis is one request's content, made once. Request number n repeats the basis
// n % basisCount under uuids of its own, so that a generator patches six digits an event instead of printing events,
// and whoever judges knows what each stored event must say without a note of every request.

import { uuidOf } from './capture-request.ts'
import { type Corpus, type CorpusEvent, drawEvent, eventText } from './corpus.ts'
import { createRandom } from './random.ts'
import type { Workload } from './workload.ts'

export interface Basis {
  readonly events: readonly CorpusEvent[]
  /** False for an event that must be dropped. */
  readonly isStored: readonly boolean[]
}

/** The client that the uuids of all these requests name. */
export const loadClient = 0x10ad

/** The number's digits in a uuid of `uuidOf`. */
const numberDigits = 6
const numberAt = 24

export function basisOf(workload: Workload, number: number): number {
  return number % workload.basisCount
}

/** Draws basis `basis`, always the same. */
export function drawBasis(corpus: Corpus, workload: Workload, basis: number): Basis {
  const { eventCount, identityShare, invalidShare, lane } = workload
  const random = createRandom(corpus.seed, loadClient, basis)
  const events: CorpusEvent[] = []
  const isStored: boolean[] = []
  for (let index = 0; index < eventCount; index++) {
    const uuid = uuidOf({ client: loadClient, number: basis, index })
    isStored.push(random.next() >= invalidShare)
    events.push(drawEvent(corpus, random, uuid, { lane, request: basis, index, identityShare }))
  }
  return { events, isStored }
}

/** How many events of a basis must be stored. */
export function storedCount({ isStored }: Basis): number {
  return isStored.filter(Boolean).length
}

/** Texts of the events as they are sent. */
export function basisTexts({ events, isStored }: Basis): string[] {
  return events.map((event, index) => {
    const text = eventText(event)
    if (isStored[index] === true) return text
    // Half of what is invalid lacks a name, the other half has one that is no string.
    return text.replace(/"event":"[^"]*"/, index % 2 === 0 ? '"event":null' : '"event":17')
  })
}

/** A text whose uuids can be made those of another request. */
export class PatchableText {
  readonly bytes: Buffer
  readonly #offsets: number[] = []

  constructor(text: string) {
    this.bytes = Buffer.from(text)
    const prefix = uuidOf({ client: loadClient, number: 0, index: 0 }).slice(0, numberAt)
    for (let at = this.bytes.indexOf(prefix); at >= 0; at = this.bytes.indexOf(prefix, at + numberAt))
      this.#offsets.push(at + numberAt)
  }

  /** What stands before, between and behind the places where the number goes. */
  slots(): string[] {
    const starts = [0, ...this.#offsets.map((offset) => offset + numberDigits)]
    const ends = [...this.#offsets, this.bytes.length]
    return starts.map((start, slot) => this.bytes.toString('utf8', start, ends[slot]))
  }

  /** Makes it request `number`, in place. */
  patch(number: number): Buffer {
    for (let digit = 0; digit < numberDigits; digit++) {
      const value = (number >>> (4 * (numberDigits - 1 - digit))) & 15
      const character = value < 10 ? 48 + value : 87 + value
      for (const offset of this.#offsets) this.bytes[offset + digit] = character
    }
    return this.bytes
  }
}
