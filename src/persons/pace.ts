// How many events one step takes: about 300 ms of work, found by trying. A step costs by what it changes, which may
// be nothing or a row for every event, so the number follows what the last steps took.

const stepMsAim = 300
const eventsMaxFirst = 2_000
const eventsMaxMost = 50_000
/** On a crowded machine a step is slow whatever it takes: smaller ones would only be more. */
const eventsMaxLeast = 1_000

export class Pace {
  #eventsMax = eventsMaxFirst

  get eventsMax(): number {
    return this.#eventsMax
  }

  /** Learns from a step that took `events` events and `ms` milliseconds. */
  applied(events: number, ms: number): void {
    const isSlow = ms > stepMsAim
    // A step that was not full says nothing about a larger one.
    if (!isSlow && events < this.#eventsMax / 2) return
    const factor = Math.min(2, Math.max(0.5, stepMsAim / Math.max(ms, 1)))
    const least = Math.min(eventsMaxLeast, this.#eventsMax)
    this.#eventsMax = Math.round(Math.min(eventsMaxMost, Math.max(least, this.#eventsMax * factor)))
  }

  /** Halves the next step after one of `events` events that was too large; it may go below the least. */
  tooLarge(events: number): void {
    this.#eventsMax = Math.max(1, Math.floor(Math.min(events, this.#eventsMax) / 2))
  }
}
