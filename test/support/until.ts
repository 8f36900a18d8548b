// Waits for a condition that something outside this process, or on its event loop, makes true.

import { setTimeout as delay } from 'node:timers/promises'

/** Resolves when `condition` holds; fails after `waitMsMax`. */
export async function until(condition: () => boolean | Promise<boolean>, waitMsMax = 20_000): Promise<void> {
  const deadline = performance.now() + waitMsMax
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not so within ${waitMsMax} ms: ${condition}`)
    await delay(5)
  }
}
