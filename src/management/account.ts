// Accounts: how a person gets one, by invitation or from the command line, and the key that opens it.

import { hashKey, makeKey, maskKey } from '../api/keys.ts'
import { ServiceError } from '../errors.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'

export interface Account {
  readonly id: number
  readonly isNew: boolean
}

interface Person {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  /** True when the person has shown to read the mail of that address; null when nobody knows. */
  readonly isEmailVerified: true | null
}

/** Errors: permission_denied for an account that was made inactive. */
export async function findOrMakeAccount(session: Session, person: Person, nowMs: number): Promise<Account> {
  const { email, firstName, lastName, isEmailVerified } = person
  const made = await session.query<{ id: number }>(
    `insert into app_user (uuid, distinct_id, email, first_name, last_name, is_email_verified, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, to_timestamp($7), to_timestamp($7))
     on conflict (lower(email)) do nothing returning id`,
    [makeUuidV7(nowMs), makeUuidV7(nowMs), email, firstName, lastName, isEmailVerified, nowMs / 1000],
  )
  const own = made.rows[0]
  if (own !== undefined) return { id: own.id, isNew: true }
  const { rows } = await session.query<{ id: number; is_active: boolean }>(
    'select id, is_active from app_user where lower(email) = lower($1)',
    [email],
  )
  const known = rows[0]
  if (known?.is_active !== true) throw new ServiceError('permission_denied')
  return { id: known.id, isNew: false }
}

/** Makes a key that may do everything its owner may, and returns it: it is shown once and stored nowhere. */
export async function makeAccountKey(
  session: Session,
  userId: number,
  label: string,
  nowMs: number,
): Promise<string> {
  const key = makeKey('phx_')
  await session.query(
    `insert into personal_api_key (id, user_id, label, secure_value, mask_value, scopes, created_at)
     values ($1, $2, $3, $4, $5, '{*}', to_timestamp($6))`,
    [makeUuidV7(nowMs), userId, label, hashKey(key), maskKey(key), nowMs / 1000],
  )
  return key
}
