// Work that must not overlap with itself.

/** Calls that arrive while one is running share one more run after it, which sees all that was true when they came. */
export function singleFlight(body: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  const start = (): Promise<void> => {
    running = body().finally(() => {
      running = null
    })
    return running
  }
  return () => {
    if (running === null) return start()
    next ??= running.then(() => {
      next = null
      return start()
    })
    return next
  }
}
