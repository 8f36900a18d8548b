// Personal API keys as the API shows them. The key itself is shown once, by whoever makes it; nothing here can read it.

import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'

const scopesMax = 100
const limitsMax = 100

const dateTime = Type.String({ format: 'date-time' })

export const personalKeyInput = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 40 }),
  scopes: Type.Array(Type.String({ maxLength: 100 }), {
    maxItems: scopesMax,
    description: '`*`, or `<object>:read` and `<object>:write`; write includes read.',
  }),
  scoped_organizations: Type.Optional(
    Type.Union([Type.Array(Type.String({ format: 'uuid' }), { maxItems: limitsMax }), Type.Null()]),
  ),
  scoped_teams: Type.Optional(
    Type.Union([
      Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), { maxItems: limitsMax }),
      Type.Null(),
    ]),
  ),
  expires_at: Type.Optional(Type.Union([dateTime, Type.Null()])),
})
export type PersonalKeyInput = Static<typeof personalKeyInput>

export const personalKeySchema = Type.Object({
  id: Type.String(),
  label: Type.String(),
  value: Type.Optional(Type.String({ description: 'The key; only when it has just been made.' })),
  mask_value: Type.String(),
  scopes: Type.Array(Type.String()),
  scoped_organizations: Type.Array(Type.String({ format: 'uuid' })),
  scoped_teams: Type.Array(Type.Integer()),
  created_at: dateTime,
  last_used_at: Type.Union([dateTime, Type.Null()]),
  expires_at: Type.Union([dateTime, Type.Null()]),
})

/** A row of `selectPersonalKeys`. */
export type PersonalKeyRow = Omit<Static<typeof personalKeySchema>, 'value'>

/** Selects the keys of user $1 that are not revoked. */
export const selectPersonalKeys = `
  select id, label, mask_value, scopes, scoped_organizations::text[] as scoped_organizations, scoped_teams,
    created_at, last_used_at, expires_at
  from personal_api_key where user_id = $1 and revoked_at is null`

/** Errors: not_found. */
export async function findPersonalKey(session: Session, userId: number, id: string): Promise<PersonalKeyRow> {
  const { rows } = await session.query<PersonalKeyRow>(`${selectPersonalKeys} and id = $2`, [userId, id])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}
