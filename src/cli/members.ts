// `spate members add`: a member without an invitation by mail. On the embedded database only while no server runs.

import { levels } from '../api/access.ts'
import type { Config } from '../config.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { parseEmail } from '../lib/email.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import { findOrMakeAccount, makeAccountKey } from '../management/account.ts'
import { recordActivity } from '../management/activity.ts'
import type { Session } from '../postgres/pool.ts'
import { openLog } from '../telemetry/log.ts'
import { withPostgres } from './with-postgres.ts'

export const levelNames = Object.keys(levels) as readonly (keyof typeof levels)[] // the keys of an object literal

export interface NewMember {
  readonly email: string
  /** Id or slug; the only one when left out. */
  readonly organization?: string
  readonly level: keyof typeof levels
  readonly firstName: string
}

/**
 * Adds the member and returns what to print, with the key of a new account.
 * Errors: not_found for an organization that is not or is not the only one, invalid_input for what is no email or a
 * member already, data_dir_unusable, postgres_unavailable.
 */
export async function runMembersAdd(config: Config, clock: Clock, member: NewMember): Promise<string> {
  const { firstName } = member
  const email = parseEmail(member.email)
  if (email === null) {
    const detail = `${JSON.stringify(member.email)} is not an email address`
    throw new ServiceError('invalid_input', { detail })
  }
  const nowMs = clock.nowMs()
  return await withPostgres(config, openLog(config), (postgres) =>
    postgres.transaction(async (session) => {
      const { id, name } = await findOrganization(session, member.organization)
      const person = { email, firstName, lastName: '', isEmailVerified: null }
      const account = await findOrMakeAccount(session, person, nowMs)
      const { rowCount } = await session.query(
        `insert into membership (id, organization_id, user_id, level, joined_at, updated_at)
         values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5)) on conflict do nothing`,
        [makeUuidV7(nowMs), id, account.id, levels[member.level], nowMs / 1000],
      )
      if (rowCount === 0) {
        throw new ServiceError('invalid_input', { detail: `${email} is a member of ${name} already` })
      }
      const changes = [{ field: 'level', before: null, after: levels[member.level] }]
      const entry = { activity: 'created', scope: 'OrganizationMember', itemId: email, changes }
      const nobody = { principal: null, address: null }
      await recordActivity(session, nobody, { ...entry, organizationId: id }, nowMs)
      const key = account.isNew ? await makeAccountKey(session, account.id, 'First key', nowMs) : null
      const joined = `${email} is now ${member.level} of ${name}\n`
      return key === null ? joined : `${joined}personal API key, shown this once: ${key}\n`
    }),
  )
}

async function findOrganization(session: Session, given = ''): Promise<{ id: string; name: string }> {
  const { rows } = await session.query<{ id: string; name: string }>(
    `select id, name from organization where $1 = '' or id::text = lower($1) or slug = $1 order by id limit 2`,
    [given],
  )
  const [only] = rows
  if (only !== undefined && rows.length === 1) return only
  const detail =
    given === ''
      ? 'name one of the organizations with --organization'
      : `there is no organization ${JSON.stringify(given)}`
  throw new ServiceError('not_found', { detail })
}
