// Knowing that everything acknowledged has reached the store: a sentinel event is sent to each lane, and what a read
// shows behind it has been applied, because a lane is applied in the order of its journal. Uses the public API only.

import { type Lane, lanes } from '../src/journal/journal.ts'
import { waitFor } from './wait.ts'

export const sentinelEvent = 'bench sentinel'

export interface SentinelTarget {
  readonly port: number
  readonly projectId: number
  readonly projectApiKey: string
  readonly personalApiKey: string
}

/** Waits until both lanes are applied up to now. Throws when that takes longer than `limitMs`. */
export async function waitUntilApplied(target: SentinelTarget, limitMs = 120_000): Promise<void> {
  for (const lane of lanes) {
    const distinctId = `sentinel-${lane}-${crypto.randomUUID()}`
    await waitFor(`a sentinel is accepted by the ${lane} lane`, limitMs, async () =>
      (await sendSentinel(target, lane, distinctId)) ? true : null,
    )
    await waitFor(`the ${lane} lane is applied`, limitMs, () => find(target, distinctId))
  }
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

async function find(target: SentinelTarget, distinctId: string): Promise<true | null> {
  const { port, projectId, personalApiKey } = target
  const response = await fetch(
    `http://127.0.0.1:${port}/api/projects/${projectId}/events/?distinct_id=${distinctId}&limit=1`,
    { headers: { authorization: `Bearer ${personalApiKey}` } },
  )
  const text = await response.text()
  if (response.status === 503) return null
  if (response.status !== 200) throw new Error(`reading events was answered ${response.status}: ${text}`)
  // The shape of the list is the API's.
  const { results } = JSON.parse(text) as { results: unknown[] }
  return results.length > 0 ? true : null
}
