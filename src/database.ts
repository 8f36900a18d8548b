// Postgres from nothing to usable: the embedded server or DATABASE_URL, migrated, claimed for this journal, filled by
// the first start. All of it in the background: capture does not wait for it, and goes on when it is away.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from './config.ts'
import { isServiceError } from './errors.ts'
import { type Bootstrap, bootstrap } from './management/bootstrap.ts'
import { openEmbeddedPostgres } from './postgres/embedded.ts'
import { latePostgres } from './postgres/late.ts'
import { claimLineage } from './postgres/lineage.ts'
import { migrate } from './postgres/migrate.ts'
import { isTransient, openPostgres, type Postgres } from './postgres/pool.ts'
import { ensureTenantRole } from './postgres/tenant-role.ts'
import { releaseAll } from './release-all.ts'
import type { Log } from './telemetry/log.ts'

export interface Database {
  /** Usable at once; fails with postgres_unavailable until the database is there. */
  readonly postgres: Postgres
  /**
   * Resolves when the schema is up to date and the first organization exists. Rejects when it never will: a schema
   * from a newer Spate, a foreign journal, a migration that fails.
   */
  readonly ready: Promise<Bootstrap>
  /** How to reach it over connections of one's own, once it is ready. Rejects when it never will be. */
  readonly connectionString: Promise<string>
  /** Why the database is not usable, or null when it is. */
  problem(): string | null
  close(): Promise<void>
}

interface DatabaseOptions {
  readonly config: Config
  /** Lineage of the journal beside it. */
  readonly epoch: string
  readonly log: Log
}

interface Connected {
  readonly postgres: Postgres
  readonly connectionString: string
}

const retryMsMin = 250
const retryMsMax = 10_000

/** Begins to open the database and returns at once. */
export function openDatabase({ config, epoch, log }: DatabaseOptions): Database {
  const stopping = new AbortController()
  let problem: string | null = 'it is still starting'
  const releasers: (() => Promise<void>)[] = []

  const connect = async (): Promise<Connected> => {
    let connectionString = config.databaseUrl
    if (connectionString === null) {
      const embedded = await openEmbeddedPostgres({ dir: join(config.dataDir, 'postgres'), log })
      releasers.push(() => embedded.stop())
      connectionString = embedded.connectionString
    }
    const postgres = openPostgres({ connectionString, log })
    releasers.push(() => postgres.close())
    return { postgres, connectionString }
  }
  const prepare = async (postgres: Postgres): Promise<Bootstrap> => {
    await ensureTenantRole(postgres)
    await migrate({ postgres, log })
    await claimLineage(postgres, epoch)
    return await bootstrap({ postgres, dataDir: config.dataDir, config })
  }
  const persist = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (let retryMs = retryMsMin; ; retryMs = Math.min(retryMs * 2, retryMsMax)) {
      try {
        return await attempt()
      } catch (error) {
        if (stopping.signal.aborted || !isTransient(error)) throw error
        problem = isServiceError(error) ? error.detail : 'not reachable'
        log.warn({ err: error, retry_ms: retryMs }, 'Postgres is not available; capture goes on without it')
        await delay(retryMs, undefined, { signal: stopping.signal })
      }
    }
  }

  const connected = persist(connect)
  const ready = connected.then(({ postgres }) => persist(() => prepare(postgres)))
  const connectionString = Promise.all([connected, ready]).then(([made]) => made.connectionString)
  connectionString.catch(() => {}) // told by `ready`
  ready.then(
    () => {
      problem = null
    },
    (error: unknown) => {
      problem = isServiceError(error) ? error.detail : String(error)
    },
  )
  return {
    postgres: latePostgres(connected.then(({ postgres }) => postgres)),
    ready,
    connectionString,
    problem: () => problem,
    async close() {
      stopping.abort()
      await ready.catch(() => {}) // told to whoever waits for it
      await releaseAll(releasers)
    },
  }
}
