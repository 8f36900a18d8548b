// How late the main thread comes to what is due. While something holds it up, work of its own or others on its core,
// nobody is answered: who sends one event or asks for flags must not notice what bodies, lists and imports do beside.
//
// It is looked at every 10 ms, which takes 0.1 % of a core. A pause of 20 ms is always seen, a shorter one if a look
// falls into it, and each is counted as what was left of it by then.

import type { Clock } from '../lib/clock.ts'

const lookMs = 10

/** Tells `late` of each look how far behind its moment it came (ms). Returns what ends it. */
export function watchLoopDelay(clock: Clock, late: (ms: number) => void): () => Promise<void> {
  let dueMs = clock.monotonicMs() + lookMs
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs()
    late(Math.max(0, nowMs - dueMs))
    dueMs = nowMs + lookMs
  }, lookMs)
  timer.unref()
  return async () => clearInterval(timer)
}
