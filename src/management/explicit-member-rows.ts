// Explicit members of a private project as the API shows them.

import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'
import { userJson, userSchema } from './user-rows.ts'

export const explicitLevel = Type.Union([Type.Literal(1), Type.Literal(8)], {
  description: 'In the project: 1 member, 8 administrator.',
})

export const explicitMemberSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  level: explicitLevel,
  parent_level: Type.Integer({ description: 'In the organization.' }),
  parent_membership_id: Type.String({ format: 'uuid' }),
  joined_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  user: userSchema,
  effective_level: Type.Integer({ description: 'The higher one of both.' }),
})

export type ExplicitMember = Static<typeof explicitMemberSchema>

/** Selects the active explicit members of project $1. */
export const selectExplicitMembers = `
  select access.id, access.level, membership.level as parent_level, membership.id as parent_membership_id,
    access.created_at as joined_at, access.updated_at, ${userJson} as user,
    greatest(access.level, membership.level) as effective_level
  from project_access access
  join project on project.id = access.project_id
  join membership on membership.organization_id = project.organization_id
    and membership.user_id = access.user_id
  join app_user on app_user.id = access.user_id
  where access.project_id = $1 and app_user.is_active`

/** Errors: not_found. */
export async function findExplicitMember(
  session: Session,
  projectId: number,
  userUuid: string,
): Promise<ExplicitMember> {
  const { rows } = await session.query<ExplicitMember>(`${selectExplicitMembers} and app_user.uuid = $2`, [
    projectId,
    userUuid,
  ])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}
