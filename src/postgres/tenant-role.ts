// The role that management takes on for its statements, so that row-level security stands between tenants. It cannot
// log in; the user of the connection takes it on for a transaction. Roles belong to the whole cluster, not to a
// database, and making one needs CREATEROLE: hence this file instead of a migration.

import { ServiceError } from '../errors.ts'
import { type Postgres, type Session, sqlState } from './pool.ts'

export const tenantRole = 'spate_tenant'

const duplicateObject = '42710'
const uniqueViolation = '23505'
const insufficientPrivilege = '42501'
const noSuchRole = '22023'

/**
 * Makes the role where it is missing and lets the user of `postgres` take it on.
 * Errors: config_invalid when that user may not make it, with what an administrator has to do; postgres_unavailable.
 */
export async function ensureTenantRole(postgres: Postgres): Promise<void> {
  if (await canTakeOn(postgres)) return
  try {
    await makeTenantRole(postgres, 'current_user')
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error
    const { rows } = await postgres.query<{ name: string }>('select quote_ident(current_user) as name')
    const detail =
      `the database user needs the role ${tenantRole} and may not make it; as an administrator run: ` +
      `create role ${tenantRole} nologin; grant ${tenantRole} to ${rows[0]?.name};`
    throw new ServiceError('config_invalid', { detail, cause: error })
  }
}

/** Makes the role where it is missing and grants it. `member` is one of two names of ours, never a value. */
export async function makeTenantRole(session: Session, member: 'spate' | 'current_user'): Promise<void> {
  try {
    await session.query(`create role ${tenantRole} nologin`)
  } catch (error) {
    // It is there, or another database of this cluster is making it at this moment.
    if (![duplicateObject, uniqueViolation].includes(sqlState(error) ?? '')) throw error
  }
  await session.query(`grant ${tenantRole} to ${member}`)
}

async function canTakeOn(postgres: Postgres): Promise<boolean> {
  try {
    await postgres.transaction((session) => session.query(`set local role ${tenantRole}`))
    return true
  } catch (error) {
    if ([insufficientPrivilege, noSuchRole].includes(sqlState(error) ?? '')) return false
    throw error
  }
}
