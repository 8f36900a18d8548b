// What waits for an answer that names it by number, thousands a second: given numbers one after the other, taken about
// in the order it was added.
//
// In place of a Map, whose tables keep each other alive when they are garbage: see bag.ts.

const slotsAtFirst = 64

export class Numbered<T extends object> {
  /** The number modulo their count says where; there is room for all from the first that is there to the last. */
  #slots: (T | null)[] = new Array<T | null>(slotsAtFirst).fill(null)
  /** Below it nothing is there. */
  #first = 0
  #next = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Returns its number: 0 for the first ever, and so on. */
  add(thing: T): number {
    if (this.#next - this.#first === this.#slots.length) this.#grow()
    this.#slots[this.#slotOf(this.#next)] = thing
    this.#size++
    return this.#next++
  }

  /** Undefined when it was taken before, or never added. */
  take(number: number): T | undefined {
    if (number < this.#first || number >= this.#next) return undefined
    const slot = this.#slotOf(number)
    const thing = this.#slots[slot]
    if (thing === null || thing === undefined) return undefined
    this.#slots[slot] = null
    this.#size--
    while (this.#first < this.#next && this.#slots[this.#slotOf(this.#first)] === null) this.#first++
    return thing
  }

  /** In the order of their numbers. */
  takeAll(): T[] {
    const all: T[] = []
    for (let number = this.#first; number < this.#next; number++) {
      const thing = this.take(number)
      if (thing !== undefined) all.push(thing)
    }
    return all
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Array<T | null>(2 * before.length).fill(null)
    for (let number = this.#first; number < this.#next; number++)
      this.#slots[this.#slotOf(number)] = before[number % before.length] ?? null
  }

  #slotOf(number: number): number {
    return number % this.#slots.length
  }
}
