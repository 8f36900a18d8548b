// Whether events come in, as the main thread sees it: by what the journal has taken.

import type { Clock } from '../lib/clock.ts'

/** Events come in pieces of a megabyte and more. */
const lookMs = 500
/** About a thousand events a second. Less takes a few percent of one processor, and is not slowed. */
const bytesPerSecondMin = 1024 * 1024

/** A question whose answer is of the last half second or more; before that is over it is no. */
export function isIngestingBy(bytesSoFar: () => number, clock: Pick<Clock, 'monotonicMs'>): () => boolean {
  let atMs = clock.monotonicMs()
  let bytes = bytesSoFar()
  let isIngesting = false
  return () => {
    const nowMs = clock.monotonicMs()
    if (nowMs - atMs < lookMs) return isIngesting
    const now = bytesSoFar()
    isIngesting = ((now - bytes) * 1000) / (nowMs - atMs) >= bytesPerSecondMin
    atMs = nowMs
    bytes = now
    return isIngesting
  }
}
