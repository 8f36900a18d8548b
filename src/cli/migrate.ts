// `spate migrate`: the schema without the server, for who upgrades in steps.

import type { Config } from '../config.ts'
import { migrate } from '../postgres/migrate.ts'
import { ensureTenantRole } from '../postgres/tenant-role.ts'
import { openLog } from '../telemetry/log.ts'
import { withPostgres } from './with-postgres.ts'

/**
 * Applies what is missing and returns what to print.
 * Errors: data_dir_unusable while a server runs on the embedded database, schema_newer, postgres_unavailable.
 */
export async function runMigrate(config: Config): Promise<string> {
  const log = openLog(config)
  const applied = await withPostgres(config, log, async (postgres) => {
    await ensureTenantRole(postgres)
    return await migrate({ postgres, log })
  })
  return applied.length === 0
    ? 'the schema is up to date\n'
    : applied.map((name) => `applied ${name}\n`).join('')
}
