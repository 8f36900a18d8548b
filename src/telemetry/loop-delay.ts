// How late the main thread comes to what is due. While something holds it up, work of its own or others on its core,
// nobody is answered: who sends one event or asks for flags must not notice what bodies, lists and imports do beside.
//
// It is looked at every 10 ms, which takes 0.1 % of a core. A pause of 20 ms is always seen, a shorter one if a look
// falls into it, and each is counted as what was left of it by then.

import type { Clock } from '../lib/clock.ts'
import { openProcessorWait, type ProcessorWait } from './processor-wait.ts'

const lookMs = 10

/**
 * Tells `late` of each look how far behind its moment it came, and how much of that the thread has not waited for a
 * processor: it worked (ms). Returns what ends it.
 */
export function watchLoopDelay(
  clock: Clock,
  late: (ms: number, workedMs: number) => void,
  processorWait: ProcessorWait = openProcessorWait(),
): () => Promise<void> {
  let dueMs = clock.monotonicMs() + lookMs
  let waitedMs = processorWait.ms()
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs()
    const waitedNowMs = processorWait.ms()
    const ms = Math.max(0, nowMs - dueMs)
    late(ms, Math.max(0, ms - (waitedNowMs - waitedMs)))
    dueMs = nowMs + lookMs
    waitedMs = waitedNowMs
  }, lookMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    processorWait.close()
  }
}
