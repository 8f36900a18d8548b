// What the journal may forget: in each lane everything that the events store can do without and the persons have
// applied. While one of the two is behind or away, its part of the journal is kept.

import type { Events } from './events/client.ts'
import { type Journal, type Lane, lanes, type Position } from './journal/journal.ts'
import type { Persons } from './persons/client.ts'

/** Lets the journal forget whenever one of its two readers has come further. */
export function releaseApplied(
  journal: Pick<Journal, 'release'>,
  events: Pick<Events, 'state' | 'onCheckpoint'>,
  persons: Pick<Persons, 'state' | 'onApplied'>,
): void {
  const released: Partial<Record<Lane, Position>> = {}
  const release = (): void => {
    const { checkpointed } = events.state()
    if (checkpointed === null) return
    const { applied } = persons.state()
    for (const lane of lanes) {
      const behind = Math.min(applied[lane], checkpointed[lane]) as Position // the lesser of positions is one
      if (released[lane] === behind) continue
      released[lane] = behind
      journal.release(lane, behind)
    }
  }
  events.onCheckpoint(release)
  persons.onApplied(release)
}
