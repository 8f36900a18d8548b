// `spate migrate`: the schema without the server, for who upgrades in steps.

import { join } from 'node:path'
import type { Config } from '../config.ts'
import { takeDataDir } from '../data-dir.ts'
import { openEmbeddedPostgres } from '../postgres/embedded.ts'
import { migrate } from '../postgres/migrate.ts'
import { openPostgres } from '../postgres/pool.ts'
import { openLog } from '../telemetry/log.ts'

/**
 * Applies what is missing and returns what to print.
 * Errors: data_dir_unusable while a server runs on the embedded database, schema_newer, postgres_unavailable.
 */
export async function runMigrate(config: Config): Promise<string> {
  const log = openLog(config)
  const releasers: (() => Promise<void>)[] = []
  try {
    let connectionString = config.databaseUrl
    if (connectionString === null) {
      const dataDir = await takeDataDir(config.dataDir)
      releasers.push(() => dataDir.release())
      const embedded = await openEmbeddedPostgres({ dir: join(config.dataDir, 'postgres'), log })
      releasers.push(() => embedded.stop())
      connectionString = embedded.connectionString
    }
    const postgres = openPostgres({ connectionString, log })
    releasers.push(() => postgres.close())
    const applied = await migrate({ postgres, log })
    return applied.length === 0
      ? 'the schema is up to date\n'
      : applied.map((name) => `applied ${name}\n`).join('')
  } finally {
    for (const release of releasers.reverse()) await release()
  }
}
