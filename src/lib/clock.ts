// The only place that reads the clock. Everything else is handed a Clock, so that a test can say what time it is.

/** Microseconds since 1970-01-01T00:00:00Z, an integer. Exact from the year 1685 to 2255, within 32 µs outside. */
export type Micros = number & { readonly __unit: 'Micros' }

export interface Clock {
  /** Wall-clock milliseconds since the epoch: for timestamps that are stored or shown, never for durations. */
  nowMs(): number
  /** Monotonic milliseconds from an arbitrary start: for durations and deadlines, never stored. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** Converts epoch milliseconds to Micros. */
export function microsFromMs(ms: number): Micros {
  // The product of an integer count of milliseconds and 1000 is a count of microseconds by definition.
  return (ms * 1000) as Micros
}
