// Projects as the API shows them, and how they are read and written.

import type { Static } from 'typebox'
import type { Principal } from '../api/principal.ts'
import { currentFirst } from '../api/tenant.ts'
import { ServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'
import {
  type ProjectInput,
  projectFields,
  type projectSchema,
  type shortProjectSchema,
} from './project-fields.ts'
import { idOf } from './row-id.ts'

/** All of a project but what is made for the answer. */
export type ProjectRow = Omit<Static<typeof projectSchema>, 'live_events_token'>
/** A row of `selectShortProjects`. */
export type ShortProjectRow = Static<typeof shortProjectSchema>

const current = '@current'

/** Selects the short form of all projects that the transaction sees. */
export const selectShortProjects = `
  select id, uuid, organization_id as organization, api_token, name, completed_snippet_onboarding,
    has_completed_onboarding_for, ingested_event, is_demo, timezone, access_control
  from project`

// Names of columns are names of fields: they are ours, and no request can add one.
const selectProject = `
  select id, uuid, organization_id as organization, api_token, created_at, updated_at, ingested_event,
    has_group_types, spate_project_level(id) as effective_membership_level,
    'true' as person_on_events_querying_enabled, default_modifiers::text as default_modifiers,
    product_intents::text as product_intents, ${projectFields.join(', ')}
  from project where id = $1`

const updateProject = `
  update project set updated_at = to_timestamp($3),
    (${projectFields.join(', ')}) = (
      select ${projectFields.map((field) => `written.${field}`).join(', ')}
      from jsonb_populate_record(project, $2) written)
  where id = $1`

/**
 * The number of the project that a path below an organization names.
 * Errors: not_found for what is no number, and for `@current` when the caller is in no project there.
 */
export async function projectIdOf(
  session: Session,
  given: string,
  { currentOrganizationId, currentProjectId }: Principal,
): Promise<number> {
  if (given !== current) return idOf(given)
  const { rows } = await session.query<{ id: number }>(
    `select id from project where organization_id = $1 ${currentFirst('$2')}`,
    [currentOrganizationId, currentProjectId],
  )
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0].id
}

/** Errors: not_found. */
export async function findProject(session: Session, id: number): Promise<ProjectRow> {
  const { rows } = await session.query<ProjectRow>(selectProject, [id])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}

/** The same, and nobody changes it before the transaction ends. */
export async function lockProject(session: Session, id: number): Promise<ProjectRow> {
  await session.query('select from project where id = $1 for update', [id])
  return await findProject(session, id)
}

/** Writes the fields that `input` has; the others stay. */
export async function writeProject(
  session: Session,
  id: number,
  input: ProjectInput,
  nowMs: number,
): Promise<void> {
  await session.query(updateProject, [id, JSON.stringify(input), nowMs / 1000])
}
