// Members of an organization as the API shows them.

import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'
import { userJson, userSchema } from './user-rows.ts'

export const memberLevel = Type.Union([Type.Literal(1), Type.Literal(8), Type.Literal(15)], {
  description: '1 member, 8 administrator, 15 owner.',
})

export const memberSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  user: userSchema,
  level: memberLevel,
  joined_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  is_2fa_enabled: Type.Boolean(),
  has_social_auth: Type.Boolean(),
  last_login: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'The last use of any key: there is no other way in.',
  }),
})

/** A row of `selectMembers`. */
export type MemberRow = Static<typeof memberSchema>

/**
 * The user is joined from the left, although there always is one: so what counts and sorts members does not look at
 * users at all (sql/0023).
 */
const selectMembersWith = (more: string): string => `
  select ${more}membership.id, ${userJson} as user, membership.level, membership.joined_at, membership.updated_at,
    false as is_2fa_enabled, false as has_social_auth,
    (select max(last_used_at) from personal_api_key where user_id = app_user.id) as last_login
  from membership left join app_user on app_user.id = membership.user_id
  where membership.organization_id = $1 and user_is_active`

/** Selects the active members of organization $1. */
export const selectMembers = selectMembersWith('')

/** The same with what lists are sorted by. */
export const selectMembersByName = selectMembersWith('user_first_name as list_name, ')

/** Errors: not_found. */
export async function findMember(session: Session, organizationId: string, uuid: string): Promise<MemberRow> {
  const { rows } = await session.query<MemberRow>(`${selectMembers} and app_user.uuid = $2`, [
    organizationId,
    uuid,
  ])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}
