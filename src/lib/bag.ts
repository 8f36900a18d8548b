// What comes and goes by the thousand a second, such as open requests, in no order.
//
// In place of a Set. A Set that is added to and deleted from makes itself a new table every few times, and the table
// before, which is garbage, leads to the new one and to what was in it. Once one of them has been moved among the old
// objects, each of its successors is kept alive by garbage, and all that was open at the time with it: of single
// events 470 bytes each became old (4.5 MB/s), and a whole heap was collected every 22 s, by four threads that share
// a core with this one, for 60 ms. An array is written over.

/** Something that can be in a bag, of one at a time. */
export interface InBag {
  /** For the bag alone. */
  place: number
}

export class Bag<T extends InBag> {
  readonly #things: (T | null)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** It must not be in a bag. */
  add(thing: T): void {
    thing.place = this.#size
    this.#things[this.#size++] = thing
  }

  /** It must be in this bag. */
  delete(thing: T): void {
    const last = this.#things[--this.#size]! // it is not empty: `thing` is there
    last.place = thing.place
    this.#things[thing.place] = last
    this.#things[this.#size] = null
  }

  /** Calls `call` with each. It may delete any: that one only, or others, of which some may then be visited twice. */
  visit(call: (thing: T) => void): void {
    // Backwards, so that what takes a deleted one's place has had its turn.
    for (let place = this.#size - 1; place >= 0; place--) {
      const thing = this.#things[place]
      if (thing !== null && thing !== undefined) call(thing)
    }
  }
}
