// A person as other resources show one: the nested User object.

import { Type } from '../api/schema.ts'

export const roles = [
  'engineering',
  'data',
  'product',
  'founder',
  'leadership',
  'marketing',
  'sales',
  'other',
] as const

const nullableText = Type.Union([Type.String(), Type.Null()])

export const userSchema = Type.Object({
  id: Type.Integer(),
  uuid: Type.String({ format: 'uuid' }),
  distinct_id: nullableText,
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String({ format: 'email' }),
  is_email_verified: Type.Union([Type.Boolean(), Type.Null()]),
  hedgehog_config: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
  role_at_organization: nullableText,
})

/** That object as an expression over a row of app_user called `app_user`; null where the row is missing. */
export const userJson = `case when app_user.id is not null then jsonb_build_object(
    'id', app_user.id, 'uuid', app_user.uuid, 'distinct_id', app_user.distinct_id,
    'first_name', app_user.first_name, 'last_name', app_user.last_name, 'email', app_user.email,
    'is_email_verified', app_user.is_email_verified, 'hedgehog_config', app_user.hedgehog_config,
    'role_at_organization', app_user.role_at_organization) end`
