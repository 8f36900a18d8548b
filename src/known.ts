// What the server knows of all projects, kept in memory so that it goes on while Postgres is away, and where addresses
// are.

import { join } from 'node:path'
import type { Config } from './config.ts'
import { type OpenFlagDefinitions, openFlagDefinitions } from './flags/definitions.ts'
import { type GeoipFiles, openGeoip } from './geoip/database.ts'
import type { Clock } from './lib/clock.ts'
import { type IngestionWarnings, openIngestionWarnings } from './management/ingestion-warnings.ts'
import { openProjectKeys, type ProjectKeys } from './management/project-keys.ts'
import type { Postgres } from './postgres/pool.ts'
import type { Log } from './telemetry/log.ts'

export interface Known {
  readonly projects: ProjectKeys
  readonly definitions: OpenFlagDefinitions
  readonly warnings: IngestionWarnings
  /** Null when there is no database of addresses. */
  readonly geoip: GeoipFiles | null
}

interface KnownOptions {
  readonly config: Config
  readonly postgres: Postgres
  readonly clock: Clock
  readonly log: Log
}

/** Opens all of it; `releasers` close it again. Errors: config_invalid. */
export async function openKnown(
  { config, postgres, clock, log }: KnownOptions,
  releasers: (() => Promise<void>)[],
): Promise<Known> {
  const geoip = openGeoip(config.geoipCityDb)?.files ?? null
  const projects = await openProjectKeys({ postgres, file: keysFileOf(config), clock, log })
  releasers.push(() => projects.close())
  const definitionsFile = join(config.dataDir, 'definitions.snapshot')
  const definitions = await openFlagDefinitions({ postgres, file: definitionsFile, log })
  releasers.push(() => definitions.close())
  const warnings = openIngestionWarnings({ postgres, clock, log })
  releasers.push(() => warnings.close())
  return { projects, definitions, warnings, geoip }
}

/** Its absence makes a start the first one. */
export function keysFileOf({ dataDir }: Config): string {
  return join(dataDir, 'keys.snapshot')
}
