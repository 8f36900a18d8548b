// Waits for a condition that something outside this process, or on its event loop, makes true.

import { setTimeout as delay } from 'node:timers/promises'

/** What is not so at once is asked for ever more rarely: asking a server takes as much of it as of the test. */
const pollMsMin = 5
const pollMsMax = 50
const pollShare = 0.1

/** Resolves when `condition` holds; fails after `waitMsMax`. */
export async function until(condition: () => boolean | Promise<boolean>, waitMsMax = 20_000): Promise<void> {
  const startedMs = performance.now()
  while (!(await condition())) {
    const waitedMs = performance.now() - startedMs
    if (waitedMs > waitMsMax) throw new Error(`not so within ${waitMsMax} ms: ${condition}`)
    await delay(Math.min(Math.max(waitedMs * pollShare, pollMsMin), pollMsMax))
  }
}
