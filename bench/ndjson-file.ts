// The events of a workload as a file of NDJSON, one event a line under the names of the events table: what DuckDB
// loads by itself, and what peers with an interface for rows are sent.

import { closeSync, openSync, writeSync } from 'node:fs'
import { basisOf, basisTexts, drawBasis, PatchableText } from './basis.ts'
import { type Corpus, storedEvent } from './corpus.ts'
import type { Workload } from './workload.ts'

/** Lines of the events of requests as NDJSON, those of one number under its uuids. */
export class NdjsonRequests {
  /** Properties as one string, for who has no type for them; else as the object they are. */
  readonly #propertiesAsText: boolean
  readonly #corpus: Corpus
  readonly #workload: Workload
  readonly #bases = new Map<number, PatchableText>()

  constructor(corpus: Corpus, workload: Workload, propertiesAsText = false) {
    this.#propertiesAsText = propertiesAsText
    this.#corpus = corpus
    this.#workload = workload
  }

  /** The lines of request `number`, valid until the next call. */
  linesOf(number: number): Buffer {
    const basis = basisOf(this.#workload, number)
    const known = this.#bases.get(basis)
    if (known !== undefined) return known.patch(number)
    const drawn = drawBasis(this.#corpus, this.#workload, basis)
    const lines = basisTexts(drawn).map((text, index) => {
      const { distinctId } = storedEvent(drawn.events[index]!, false)
      if (!this.#propertiesAsText) return `{"distinct_id":"${distinctId}",${text.slice(1)}\n`
      // A text of our own making.
      const { uuid, event, timestamp, properties } = JSON.parse(text) as Record<string, unknown>
      const row = { uuid, event, distinct_id: distinctId, timestamp, properties: JSON.stringify(properties) }
      return `${JSON.stringify(row)}\n`
    })
    const made = new PatchableText(lines.join(''))
    this.#bases.set(basis, made)
    return made.patch(number)
  }
}

/** Writes requests 0 to count - 1 to a new file. */
export function writeNdjson(path: string, corpus: Corpus, workload: Workload, count: number): void {
  const requests = new NdjsonRequests(corpus, workload)
  const file = openSync(path, 'wx')
  try {
    for (let number = 0; number < count; number++) writeSync(file, requests.linesOf(number))
  } finally {
    closeSync(file)
  }
}
