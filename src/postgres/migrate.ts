// Brings the database's schema to the version of this Spate: the numbered files of sql/, each in a transaction of its
// own, recorded in the table `schema_migration`. Forward only. Two processes may start at once: one waits for the
// other. A database that a newer Spate has migrated is left alone and not used.

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../errors.ts'
import type { Log } from '../telemetry/log.ts'
import { type Postgres, sqlState } from './pool.ts'

/** sql/ at the top of the project, seen from dist/src/postgres/. */
export const migrationFolder = fileURLToPath(new URL('../../../sql', import.meta.url))

const migrationsTable = 'schema_migration'
const undefinedTable = '42P01'

interface MigrateOptions {
  readonly postgres: Postgres
  readonly log: Log
  readonly folder?: string
}

/**
 * Applies what is missing and returns the names of the migrations applied by this call.
 * Errors: schema_newer, postgres_unavailable, or the DatabaseError of the statement that failed (its file is undone).
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { postgres, log, folder = migrationFolder } = options
  const known = migrationNames(folder)
  const applied = await appliedMigrations(postgres)
  refuseNewer(known, applied)
  if (applied.length === known.length) return []
  // Needed at the first start after an upgrade only, and slow to load.
  const { runner } = await import('node-pg-migrate')
  const session = await postgres.hold()
  let reuse = false
  try {
    await session.query('set statement_timeout = 0')
    const run = await runner({
      dbClient: session.client,
      dir: folder,
      ignorePattern: '(?!.*\\.sql$).*',
      direction: 'up',
      count: Number.POSITIVE_INFINITY,
      migrationsTable,
      checkOrder: true,
      singleTransaction: false,
      advisoryLockMode: 'wait',
      logger: quiet(log),
    })
    await session.query('reset statement_timeout')
    reuse = true
    const names = run.map((migration) => migration.name)
    if (names.length > 0) log.info({ migrations: names }, 'the database schema was migrated')
    return names
  } finally {
    session.release(reuse)
  }
}

function migrationNames(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return files.map((name) => name.slice(0, -'.sql'.length)).sort()
}

async function appliedMigrations(postgres: Postgres): Promise<string[]> {
  try {
    const { rows } = await postgres.query<{ name: string }>(
      `select name from ${migrationsTable} order by name`,
    )
    return rows.map((row) => row.name)
  } catch (error) {
    if (sqlState(error) === undefinedTable) return []
    throw error
  }
}

function refuseNewer(known: readonly string[], applied: readonly string[]): void {
  const foreign = applied.find((name) => !known.includes(name))
  if (foreign === undefined) return
  const detail =
    `the database has migration ${foreign}, the newest this Spate knows is ${known.at(-1)}; ` +
    'start the newer Spate, or restore a backup from before it'
  throw new ServiceError('schema_newer', { detail })
}

/** The runner tells of each step and prints the SQL of a failed one; only its warnings are of interest. */
function quiet(log: Log): Record<'debug' | 'info' | 'warn' | 'error', (message: string) => void> {
  const debug = (message: string): void => log.debug({}, message)
  return { debug, info: debug, warn: (message) => log.warn({}, message), error: debug }
}
