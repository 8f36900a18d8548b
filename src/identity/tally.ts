// Counts what is added to stored counters: usage by project and day, warnings by project and reason.

import type { IdentityWarning, Usage, Warning } from './changes.ts'

const sampleCharsMax = 200

/** The event that a warning is about. */
export interface WarnedEvent {
  readonly projectId: number
  readonly receivedAtMs: number
  readonly event: string
  readonly distinctId: string
}

export class Tally {
  readonly #usage = new Map<string, Usage>()
  readonly #warnings = new Map<string, Warning>()

  addUsage(projectId: number, receivedAtMs: number, historical: boolean, eventCount: number): void {
    const day = new Date(receivedAtMs).toISOString().slice(0, 10)
    const key = `${projectId} ${day}`
    const before = this.#usage.get(key)
    this.#usage.set(key, {
      projectId,
      day,
      billable: (before?.billable ?? 0) + (historical ? 0 : eventCount),
      historical: (before?.historical ?? 0) + (historical ? eventCount : 0),
    })
  }

  warn(
    reason: IdentityWarning,
    detail: string,
    { projectId, receivedAtMs, event, distinctId }: WarnedEvent,
  ): void {
    const key = `${projectId} ${reason}`
    const before = this.#warnings.get(key)
    this.#warnings.set(key, {
      projectId,
      reason,
      count: (before?.count ?? 0) + 1,
      firstSeenMs: Math.min(before?.firstSeenMs ?? receivedAtMs, receivedAtMs),
      lastSeenMs: Math.max(before?.lastSeenMs ?? receivedAtMs, receivedAtMs),
      sample: { event: cutSample(event), distinctId: cutSample(distinctId), detail: cutSample(detail) },
    })
  }

  /** Forgets a project that is gone. */
  forget(projectId: number): void {
    for (const counts of [this.#usage, this.#warnings]) {
      for (const [key, row] of counts) if (row.projectId === projectId) counts.delete(key)
    }
  }

  usage(): Usage[] {
    return [...this.#usage.values()]
  }

  warnings(): Warning[] {
    return [...this.#warnings.values()]
  }
}

/** Text as a sample shows it. */
export function cutSample(text: string): string {
  if (text.length <= sampleCharsMax) return text
  // The first half of a split character becomes U+FFFD.
  return Buffer.from(text.slice(0, sampleCharsMax)).toString('utf8')
}
