// Trouble that repeats. One failed transaction is tried again and forgotten; a row of them is something to show.

/** Failures in a row from which on it is no passing trouble. */
const shownMin = 3

export class Setback {
  #count = 0
  #detail = ''

  failed(detail: string): void {
    this.#count++
    this.#detail = detail
  }

  /** Something was achieved in between. */
  over(): void {
    this.#count = 0
  }

  /** What keeps failing, or null. */
  get reason(): string | null {
    return this.#count < shownMin ? null : `loading fails again and again: ${this.#detail}`
  }
}
