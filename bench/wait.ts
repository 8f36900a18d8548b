// Waiting for a condition that only another process can make true.

import { setTimeout as delay } from 'node:timers/promises'
import { machineMs } from './clock.ts'

const shortPollMs = 10

/**
 * Polls `condition` until it gives a value, and returns that. Throws after `limitMs`, naming `what` was awaited. Asking
 * often takes processor time of whoever is asked: `pollMs` is for who measures that.
 */
export async function waitFor<T>(
  what: string,
  limitMs: number,
  condition: () => T | null | Promise<T | null>,
  pollMs = shortPollMs,
): Promise<T> {
  const startMs = machineMs()
  for (;;) {
    const value = await condition()
    if (value !== null) return value
    if (machineMs() - startMs > limitMs) throw new Error(`${what}: not within ${limitMs} ms`)
    await delay(pollMs)
  }
}
