// Knowing that everything acknowledged has reached the store. The server says so itself (its lag is 0); a sentinel
// sent to each lane proves it, because a lane is applied in the order of its journal: when the sentinel is in the
// store, everything before it is.

import { type Lane, lanes } from '../src/journal/journal.ts'
import { waitFor } from './wait.ts'

export const sentinelEvent = 'bench sentinel'

export interface SentinelTarget {
  readonly port: number
  readonly projectApiKey: string
}

/**
 * Sends a sentinel to each lane and waits until the server has no lag. Returns the distinct_ids of the sentinels, for
 * `readStore` to find. Throws when that takes longer than `limitMs`.
 */
export async function waitUntilApplied(
  target: SentinelTarget,
  limitMs = 120_000,
  pollMs?: number,
): Promise<string[]> {
  const sentinels: string[] = []
  for (const lane of lanes) {
    const distinctId = `sentinel-${lane}-${crypto.randomUUID()}`
    await waitFor(`a sentinel is accepted by the ${lane} lane`, limitMs, async () =>
      (await sendSentinel(target, lane, distinctId)) ? true : null,
    )
    sentinels.push(distinctId)
  }
  await waitForLag('events', target, limitMs, pollMs)
  return sentinels
}

/** Waits until everything that was accepted so far can be read, and persons have caught up as well. */
export async function waitUntilSettled(
  target: SentinelTarget,
  limitMs?: number,
  pollMs?: number,
): Promise<void> {
  await waitUntilApplied(target, limitMs, pollMs)
  await waitForPersons(target, limitMs, pollMs)
}

/** Waits until Postgres has applied everything that was accepted so far. */
export async function waitForPersons(
  target: SentinelTarget,
  limitMs = 120_000,
  pollMs?: number,
): Promise<void> {
  await waitForLag('persons', target, limitMs, pollMs)
}

async function waitForLag(
  store: 'events' | 'persons',
  target: SentinelTarget,
  limitMs: number,
  pollMs?: number,
): Promise<void> {
  const isApplied = async (): Promise<true | null> => ((await lagBytes(target, store)) === 0 ? true : null)
  await waitFor(`the ${store} have applied everything`, limitMs, isApplied, pollMs)
}

/** Sends one event that no oracle minds. True when it was accepted, false when the server has no room (503). */
export async function sendSentinel(
  { port, projectApiKey }: SentinelTarget,
  lane: Lane,
  distinctId: string,
): Promise<boolean> {
  const event = { event: sentinelEvent, distinct_id: distinctId, timestamp: '2024-05-01T00:00:00Z' }
  const response = await fetch(`http://127.0.0.1:${port}/batch/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      api_key: projectApiKey,
      historical_migration: lane === 'historical',
      batch: [event],
    }),
  })
  const text = await response.text()
  if (response.status !== 200 && response.status !== 503)
    throw new Error(`a sentinel was answered ${response.status}: ${text}`)
  return response.status === 200
}

/** Journal bytes that a store has not applied, over both lanes. */
export async function lagBytes({ port }: SentinelTarget, store: 'events' | 'persons'): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const lags = [
    ...(await response.text()).matchAll(/^spate_(events|persons)_lag_bytes\{.*\} (\S+)$/gm),
  ].filter(([, name]) => name === store)
  if (lags.length !== lanes.length) throw new Error('the metrics do not name the lag of each lane')
  return lags.reduce((sum, [, , bytes]) => sum + Number(bytes), 0)
}
