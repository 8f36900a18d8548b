// Organizations as the API shows them: what may be written, what is read, and how.

import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])

/** What a caller may write. */
export const organizationInput = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 64 }),
  logo_media_id: Type.Optional(nullable(Type.String({ format: 'uuid' }))),
  is_member_join_email_enabled: Type.Optional(Type.Boolean()),
  enforce_2fa: Type.Optional(nullable(Type.Boolean())),
  is_ai_data_processing_approved: Type.Optional(nullable(Type.Boolean())),
})

export type OrganizationInput = Static<typeof organizationInput>

/** Its names, for the audit log. */
export const organizationFields: readonly string[] = Object.keys(organizationInput.properties)

const teamSchema = Type.Object({
  id: Type.Integer(),
  uuid: Type.String({ format: 'uuid' }),
  organization: Type.String({ format: 'uuid' }),
  project_id: Type.Integer(),
  api_token: Type.String(),
  name: Type.String(),
  completed_snippet_onboarding: Type.Boolean(),
  has_completed_onboarding_for: Type.Unknown(),
  ingested_event: Type.Boolean(),
  is_demo: Type.Boolean(),
  timezone: Type.String(),
  access_control: Type.Boolean(),
})

export const organizationSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  slug: Type.String(),
  logo_media_id: nullable(Type.String({ format: 'uuid' })),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  membership_level: Type.Integer({ description: "The caller's: 1 member, 8 administrator, 15 owner." }),
  plugins_access_level: Type.Integer(),
  teams: Type.Array(teamSchema),
  projects: Type.Array(
    Type.Object({
      id: Type.Integer(),
      organization_id: Type.String({ format: 'uuid' }),
      name: Type.String(),
    }),
  ),
  available_product_features: Type.Array(Type.Unknown()),
  is_member_join_email_enabled: Type.Boolean(),
  metadata: Type.String({ description: 'JSON text.' }),
  customer_id: nullable(Type.String()),
  enforce_2fa: nullable(Type.Boolean()),
  member_count: Type.String({ description: 'A decimal number.' }),
  is_ai_data_processing_approved: nullable(Type.Boolean()),
})

/** A row of `selectOrganizations`. */
export type OrganizationRow = Static<typeof organizationSchema>

/** Members that do not count: who may do nothing, and what is no person. They are few, and have an index (sql/0022). */
const isUncounted = `(not app_user.is_active or app_user.email like '%@posthogbot.user')`

/** Selects what `organizationSchema` promises of the organizations of user $1. */
export const selectOrganizations = `
  select organization.id, organization.name, organization.slug, logo_media_id, organization.created_at,
    organization.updated_at, own.level as membership_level, plugins_access_level,
    coalesce((
      select json_agg(row_to_json(team)) from (
        select id, uuid, organization_id as organization, id as project_id, api_token, name,
          completed_snippet_onboarding, has_completed_onboarding_for, ingested_event, is_demo, timezone, access_control
        from project where organization_id = organization.id order by id) team), '[]') as teams,
    coalesce((
      select json_agg(row_to_json(short)) from (
        select id, organization_id, name
        from project where organization_id = organization.id order by id) short), '[]') as projects,
    available_product_features, is_member_join_email_enabled, metadata::text as metadata, customer_id,
    enforce_2fa,
    ((select count(*) from membership where organization_id = organization.id)
      - (select count(*) from app_user where ${isUncounted} and exists (
          select from membership where user_id = app_user.id and organization_id = organization.id)))::text
      as member_count,
    is_ai_data_processing_approved
  from organization
  join membership own on own.organization_id = organization.id and own.user_id = $1`

/** Nobody's level in the organization changes before the transaction ends, nor is it deleted. */
export async function holdOrganization(session: Session, id: string): Promise<void> {
  await session.query('select from organization where id = $1 for key share', [id])
}

/** Errors: not_found. */
export async function findOrganization(
  session: Session,
  userId: number,
  id: string,
): Promise<OrganizationRow> {
  const { rows } = await session.query<OrganizationRow>(`${selectOrganizations} where organization.id = $2`, [
    userId,
    id,
  ])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}

/** Writes the fields that `input` has; the others stay. One statement whatever they are: a record over the row. */
export async function writeOrganization(
  session: Session,
  id: string,
  input: Partial<OrganizationInput>,
  nowMs: number,
): Promise<void> {
  await session.query(
    `update organization set updated_at = to_timestamp($3), name = written.name,
       logo_media_id = written.logo_media_id,
       is_member_join_email_enabled = written.is_member_join_email_enabled,
       enforce_2fa = written.enforce_2fa,
       is_ai_data_processing_approved = written.is_ai_data_processing_approved
     from organization stored, jsonb_populate_record(stored, $2) written
     where stored.id = $1 and organization.id = $1`,
    [id, JSON.stringify(input), nowMs / 1000],
  )
}
