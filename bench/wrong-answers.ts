// Answers that were not what they should be, counted by what was wrong, with the first of each kind in words: a number
// alone says nothing of the cause.

export interface WrongAnswer {
  /** What answers of a kind have in common: "status 503", "another value". */
  readonly kind: string
  /** What this one said. */
  readonly sample: string
  /** The answer of a server that ran out of time, as it is documented: a matter of speed. */
  readonly isLate: boolean
}

interface Kind extends WrongAnswer {
  count: number
}

const sampleCharsMax = 300

export class WrongAnswers {
  readonly #kinds = new Map<string, Kind>()

  note(answer: WrongAnswer): void {
    const known = this.#kinds.get(answer.kind)
    if (known === undefined) this.#kinds.set(answer.kind, { ...answer, count: 1 })
    else known.count++
  }

  /** One line for each kind, the most frequent first; those that were late apart from those that were wrong. */
  describe(what: string): { readonly broken: string[]; readonly slow: string[] } {
    const kinds = [...this.#kinds.values()].sort((a, b) => b.count - a.count)
    const lines = (isLate: boolean): string[] =>
      kinds
        .filter((one) => one.isLate === isLate)
        .map(({ count, kind, sample }) => `${what}: ${count} × ${kind}, first ${cut(sample)}`)
    return { broken: lines(false), slow: lines(true) }
  }
}

/** An answer with a status that was not asked for; null: the connection ended without one. */
export function wrongStatus(status: number | null, body: Buffer): WrongAnswer {
  const kind = status === null ? 'no answer' : `status ${status}`
  return { kind, sample: JSON.stringify(body.toString()), isLate: false }
}

function cut(text: string): string {
  return text.length <= sampleCharsMax ? text : `${text.slice(0, sampleCharsMax)}…`
}
