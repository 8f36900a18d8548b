// Everything that answers SDKs about flags, opened and closed as one: connections of its own, so that no long query of
// management's stands in front of a page that waits for its flags.

import type { CaptureReport } from '../capture/capture-append.ts'
import type { ProjectSource } from '../capture/intake.ts'
import type { GeoipFiles } from '../geoip/database.ts'
import type { Route } from '../http/route.ts'
import type { Clock } from '../lib/clock.ts'
import type { Touched } from '../persons/touched.ts'
import { latePostgres } from '../postgres/late.ts'
import { openPostgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import type { FlagDefinitions } from './definition.ts'
import { flagRoutes } from './flag-routes.ts'
import { KnownSubjects } from './known-subjects.ts'
import { derivedProperties } from './located.ts'
import { openProjectSettings } from './project-settings.ts'
import { type Applying, RecentIdentities } from './recent-identities.ts'
import { remoteConfigRoutes } from './remote-config-routes.ts'
import { openStoredReads, storedReadMsMax } from './stored-reads.ts'

export interface FlagEndpoints {
  readonly routes: readonly Route[]
  /** Hears of captured events, so that whoever sent them finds them heeded. */
  captured(report: CaptureReport): void
  close(): Promise<void>
}

interface FlagEndpointsOptions {
  readonly connectionString: Promise<string>
  readonly definitions: FlagDefinitions
  readonly projects: ProjectSource
  readonly persons: Applying & { onTouched(listener: (touched: Touched) => void): void }
  readonly geoip: GeoipFiles | null
  readonly clock: Clock
  readonly log: Log
}

const connectionsMax = 4

export function openFlagEndpoints(options: FlagEndpointsOptions): FlagEndpoints {
  const { definitions, projects, persons, geoip, clock, log } = options
  const connect = (connectionString: string) =>
    openPostgres({ connectionString, log, connectionsMax, statementMsMax: storedReadMsMax, plansOnce: true })
  const postgres = latePostgres(options.connectionString.then(connect))
  const settings = openProjectSettings(postgres, clock, log)
  const freshness = new RecentIdentities(persons, clock)
  const known = new KnownSubjects(clock)
  persons.onTouched((touched) => known.touched(touched))
  const stored = openStoredReads(postgres, known, log)
  const common = { definitions, projects, settings }
  return {
    routes: [
      ...flagRoutes({
        ...common,
        stored,
        known,
        clock,
        freshness,
        locate: (address) => derivedProperties(geoip, address),
      }),
      ...remoteConfigRoutes(common),
    ],
    captured({ identityBornIds, end }) {
      if (end !== null) freshness.note(identityBornIds, end)
    },
    async close() {
      freshness.close()
      await settings.close()
      await postgres.close()
    },
  }
}
