// `spate keys`: personal API keys from the shell, for who has lost the last one. On the embedded database only while no
// server runs.

import type { Config } from '../config.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { parseEmail } from '../lib/email.ts'
import { makeAccountKey } from '../management/account.ts'
import type { Session } from '../postgres/pool.ts'
import { openLog } from '../telemetry/log.ts'
import { withPostgres } from './with-postgres.ts'

const labelLengthMax = 40

interface ListedKey {
  readonly id: string
  readonly label: string
  readonly mask_value: string
  readonly scopes: string[]
  readonly last_used_at: string | null
}

/** Returns a line a key. Errors: not_found for somebody without account, data_dir_unusable, postgres_unavailable. */
export async function runKeysList(config: Config, email: string): Promise<string> {
  return await withPostgres(config, openLog(config), async (postgres) => {
    const { rows } = await postgres.query<ListedKey>(
      `select id, label, mask_value, scopes, last_used_at from personal_api_key
       where user_id = $1 and revoked_at is null order by created_at, id`,
      [await findUser(postgres, email)],
    )
    const lines = rows.map(({ id, label, mask_value, scopes, last_used_at }) =>
      [id, mask_value, label, scopes.join(' '), last_used_at ?? 'never used'].join('  '),
    )
    return lines.map((line) => `${line}\n`).join('')
  })
}

/** Returns the key. Errors: as above, and max_length. */
export async function runKeysCreate(
  config: Config,
  clock: Clock,
  { email, label }: { readonly email: string; readonly label: string },
): Promise<string> {
  if (label.length > labelLengthMax) {
    const detail = `the label has ${label.length} characters, the limit is ${labelLengthMax}`
    throw new ServiceError('max_length', { detail })
  }
  return await withPostgres(config, openLog(config), async (postgres) => {
    const key = await makeAccountKey(postgres, await findUser(postgres, email), label, clock.nowMs())
    return `${key}\n`
  })
}

/** Errors: not_found for a key that is not or is revoked already. */
export async function runKeysRevoke(config: Config, clock: Clock, id: string): Promise<string> {
  return await withPostgres(config, openLog(config), async (postgres) => {
    const { rowCount } = await postgres.query(
      'update personal_api_key set revoked_at = to_timestamp($2) where id = $1 and revoked_at is null',
      [id, clock.nowMs() / 1000],
    )
    if (rowCount === 0)
      throw new ServiceError('not_found', { detail: `there is no key ${JSON.stringify(id)}` })
    return `revoked ${id}\n`
  })
}

async function findUser(session: Session, email: string): Promise<number> {
  const { rows } = await session.query<{ id: number }>(
    'select id from app_user where lower(email) = lower($1) and is_active',
    [parseEmail(email) ?? email],
  )
  if (rows[0] !== undefined) return rows[0].id
  throw new ServiceError('not_found', { detail: `nobody has the email ${JSON.stringify(email)}` })
}
