// Invites as the API shows them: what may be written, what is read, and how.

import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'
import { userJson, userSchema } from './user-rows.ts'

/** An invite can be accepted for this long; it stays listed afterwards. */
export const inviteDaysMax = 3

const levelSchema = Type.Union([Type.Literal(1), Type.Literal(8), Type.Literal(15)])
const projectAccess = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'Of the project.' }),
    level: Type.Union([Type.Literal(1), Type.Literal(8), Type.Literal('member'), Type.Literal('admin')]),
  }),
  { maxItems: 100 },
)
const nullableMessage = Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()])

/** What a caller may write. */
export const inviteInput = Type.Object({
  target_email: Type.String({ minLength: 1, maxLength: 254, format: 'email' }),
  first_name: Type.Optional(Type.String({ maxLength: 30 })),
  level: Type.Optional(levelSchema),
  message: Type.Optional(nullableMessage),
  private_project_access: Type.Optional(Type.Union([projectAccess, Type.Null()])),
  send_email: Type.Optional(Type.Boolean()),
  combine_pending_invites: Type.Optional(Type.Boolean()),
})

export type InviteInput = Static<typeof inviteInput>
export type ProjectAccess = Static<typeof projectAccess>[number]

/** As it is stored, with the user who gives it; of combined invites these are several. */
export interface GivenAccess extends ProjectAccess {
  readonly by?: number
}

export const inviteSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  target_email: Type.String({ format: 'email' }),
  first_name: Type.String(),
  emailing_attempt_made: Type.Boolean(),
  level: levelSchema,
  is_expired: Type.Boolean({ description: `True ${inviteDaysMax} days after the invite was made.` }),
  created_by: Type.Union([userSchema, Type.Null()]),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  message: Type.Union([Type.String(), Type.Null()]),
  private_project_access: Type.Union([projectAccess, Type.Null()]),
  send_email: Type.Boolean(),
  combine_pending_invites: Type.Boolean(),
})

/** A row of `selectInvites`. */
export type Invite = Static<typeof inviteSchema>

/**
 * Selects what `inviteSchema` promises of the invites of organization $1, at $2 (seconds since 1970). A project that is
 * closed to the caller is left out of what an invite opens.
 */
export const selectInvites = `
  select invite.id, invite.target_email, invite.first_name, invite.emailing_attempt_made, invite.level,
    invite.created_at <= to_timestamp($2) - interval '${inviteDaysMax} days' as is_expired,
    ${userJson} as created_by,
    invite.created_at, invite.updated_at, invite.message,
    case when jsonb_typeof(invite.private_project_access) = 'array' then (
      select coalesce(jsonb_agg(given.access - 'by' order by given.at), '[]')
      from jsonb_array_elements(invite.private_project_access) with ordinality given (access, at)
      where (given.access ->> 'id')::bigint not in (select unnest(spate_closed_projects()))
    ) end as private_project_access,
    invite.send_email, invite.combine_pending_invites
  from organization_invite invite
  left join app_user on app_user.id = invite.created_by
  where invite.organization_id = $1`
