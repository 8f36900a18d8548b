// Postgres for a command that works without the server: the one of DATABASE_URL, or the embedded one, which a running
// server would not share.

import { join } from 'node:path'
import type { Config } from '../config.ts'
import { takeDataDir } from '../data-dir.ts'
import { openEmbeddedPostgres } from '../postgres/embedded.ts'
import { openPostgres, type Postgres } from '../postgres/pool.ts'
import { releaseAll } from '../release-all.ts'
import type { Log } from '../telemetry/log.ts'

/**
 * Runs `body` and closes everything again. The schema may be of any age.
 * Errors: data_dir_unusable while a server runs on the embedded database, postgres_unavailable.
 */
export async function withPostgres<T>(
  config: Config,
  log: Log,
  body: (postgres: Postgres) => Promise<T>,
): Promise<T> {
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
    return await body(postgres)
  } finally {
    await releaseAll(releasers)
  }
}
