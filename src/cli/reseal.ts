// `spate reseal`: stored credentials under a new secret key.

import type { Config } from '../config.ts'
import { type Resealed, resealAll } from '../sealing/reseal.ts'
import { makeSealer, sealedColumns } from '../sealing/sealer.ts'
import { openSecretKeys } from '../sealing/secret-keys.ts'
import { openLog } from '../telemetry/log.ts'
import { withPostgres } from './with-postgres.ts'

export interface ResealOptions {
  /** Makes a key first; only where Spate keeps the keys itself. */
  readonly withNewKey: boolean
}

/**
 * Seals every stored credential with the first of the secret keys and returns what to print. Run again after an
 * interruption, without a new key.
 * Errors: config_invalid for keys that cannot be read or changed, data_dir_unusable, postgres_unavailable.
 */
export async function runReseal(
  config: Config,
  { withNewKey }: ResealOptions,
): Promise<{ text: string; isComplete: boolean }> {
  const log = openLog(config)
  const resealed = await withPostgres(config, log, (postgres) => {
    const keys = openSecretKeys(config)
    if (withNewKey) keys.addKey()
    return resealAll(postgres, makeSealer(keys, log), sealedColumns)
  })
  return { text: textOf(resealed), isComplete: resealed.unreadable.length === 0 }
}

function textOf({ count, unreadable }: Resealed): string {
  const lines = [`${count} credentials sealed with the current key`]
  for (const place of unreadable) {
    lines.push(
      `does not open: ${place}; put its key back among the secret keys, or save the credential again`,
    )
  }
  if (unreadable.length === 0) lines.push('no other key is needed any more, except to read older backups')
  return lines.map((line) => `${line}\n`).join('')
}
