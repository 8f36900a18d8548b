// What keeps the server from being well, as /_readyz and the diagnosis tell it.

import type { Database } from './database.ts'
import type { Events } from './events/client.ts'
import type { Exports } from './exports/exports.ts'
import { type Journal, lanes } from './journal/journal.ts'
import type { Mirror } from './mirror/mirror.ts'
import type { Persons } from './persons/client.ts'
import type { HealthReason } from './telemetry/health.ts'

/** The rooms that something may be wrong with. */
interface Watched {
  readonly journal: Pick<Journal, 'state'>
  readonly database: Pick<Database, 'problem'>
  readonly events: Pick<Events, 'state'>
  readonly persons: Pick<Persons, 'state'>
  readonly mirror: Pick<Mirror, 'state'>
  readonly exports: Pick<Exports, 'state'>
}

/** Returns nothing while all is well. */
export function problemsOf(watched: Watched): HealthReason[] {
  const { journal, database, events, persons, mirror, exports } = watched
  const problems: HealthReason[] = []
  const { lanes: states } = journal.state()
  for (const lane of lanes) {
    const { isFull, damagedBytes } = states[lane]
    const component = `journal ${lane}`
    if (isFull) problems.push({ component, reason: 'the disk has no room', stopsCapture: true })
    if (damagedBytes > 0)
      problems.push({
        component,
        reason: `${damagedBytes} bytes found damaged and set aside`,
        stopsCapture: false,
      })
  }
  const postgres = database.problem()
  if (postgres !== null) problems.push({ component: 'postgres', reason: postgres, stopsCapture: false })
  const { isReady, reason } = events.state()
  if (reason !== null || !isReady) {
    problems.push({
      component: 'events',
      reason: reason ?? 'the store is still opening',
      stopsCapture: false,
    })
  }
  const { reason: personsReason } = persons.state()
  // Without the database there are no persons either: one reason is enough.
  if (personsReason !== null && postgres === null)
    problems.push({ component: 'persons', reason: personsReason, stopsCapture: false })
  const mirrorReason = mirror.state().reason
  if (mirrorReason !== null) problems.push({ component: 'mirror', reason: mirrorReason, stopsCapture: false })
  const exportsReason = exports.state().reason
  if (exportsReason !== null && postgres === null)
    problems.push({ component: 'exports', reason: exportsReason, stopsCapture: false })
  return problems
}
