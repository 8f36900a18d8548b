// /api/projects/:project_id/explicit_members/: who may enter a private project without administering its organization,
// and at which level there. It is for administrators of the project to say; everybody may leave. As upstream, the list
// is all of them, without pages.

import type { Static } from 'typebox'
import { levels } from '../api/access.ts'
import { changeOperations } from '../api/change-operations.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Session } from '../postgres/pool.ts'
import { type Change as Field, recordActivity } from './activity.ts'
import { type Change, changing } from './definition-writes.ts'
import {
  type ExplicitMember,
  explicitLevel,
  explicitMemberSchema,
  findExplicitMember,
  selectExplicitMembers,
} from './explicit-member-rows.ts'
import { uuidOf } from './members.ts'
import { holdOrganization } from './organization-rows.ts'

const tag = 'explicit_members'
const listPath = '/api/projects/:project_id/explicit_members'
const itemPath = `${listPath}/:user__uuid`

const input = Type.Object({
  level: Type.Optional(explicitLevel),
  user_uuid: Type.String({ format: 'uuid', description: 'Who it is; a member of the organization.' }),
})

const levelInput = Type.Object({ level: Type.Optional(explicitLevel) })

export function explicitMemberOperations(clock: Clock): Operation[] {
  const list = projectOperation({
    method: 'GET',
    path: listPath,
    operationId: 'explicit_members_list',
    summary: 'List all explicit members of a private project',
    tag,
    query: null,
    body: null,
    status: 200,
    response: Type.Array(explicitMemberSchema),
    handle: async ({ project, sql }) => {
      const order = 'order by access.level, access.created_at desc, access.id'
      const { rows } = await sql.query<ExplicitMember>(`${selectExplicitMembers} ${order}`, [project.id])
      return rows
    },
  })
  const create = projectOperation({
    method: 'POST',
    path: listPath,
    operationId: 'explicit_members_create',
    summary: 'Let a member of the organization into a private project',
    tag,
    query: null,
    body: input,
    status: 201,
    response: explicitMemberSchema,
    handle: ({ body, ...context }) => changing(context, clock, (change) => addMember(change, body)),
  })
  return [list, create, ...oneMemberOperations(clock)]
}

function oneMemberOperations(clock: Clock): Operation[] {
  const item = { path: itemPath, tag, query: null, status: 200, response: explicitMemberSchema } as const
  const retrieve = projectOperation({
    ...item,
    method: 'GET',
    operationId: 'explicit_members_retrieve',
    summary: 'Retrieve an explicit member',
    body: null,
    handle: ({ project, principal, params, sql }) =>
      findExplicitMember(sql, project.id, uuidOf(params, principal)),
  })
  const summary = 'Change the level of an explicit member'
  const changes = { input: levelInput, name: 'explicit_members', put: summary, patch: summary }
  const updates = changeOperations(changes, (verb) =>
    projectOperation({
      ...item,
      ...verb,
      handle: ({ params, body, ...context }) =>
        changing(context, clock, (change) =>
          changeLevel(change, uuidOf(params, context.principal), body.level),
        ),
    }),
  )
  const destroy = projectOperation({
    ...item,
    method: 'DELETE',
    operationId: 'explicit_members_destroy',
    summary: 'Close a private project to an explicit member, or leave it',
    body: null,
    status: 204,
    response: null,
    handle: ({ params, ...context }) =>
      changing(context, clock, (change) => removeMember(change, uuidOf(params, context.principal))),
  })
  return [retrieve, ...updates, destroy]
}

/** Errors: permission_denied, invalid_input. */
async function addMember(
  change: Change,
  { level = 1, user_uuid }: Static<typeof input>,
): Promise<ExplicitMember> {
  const { session, project, principal, nowMs } = change
  const own = await lockAsAdministrator(change)
  const userUuid = user_uuid.toLowerCase()
  if (userUuid === principal.userUuid) throw denied("You can't explicitly add yourself to projects.")
  checkLevelGiven(own, level)
  await holdOrganization(session, project.organization.id)
  const { rows } = await session.query<{ id: number }>(
    `select app_user.id from membership join app_user on app_user.id = membership.user_id
     where membership.organization_id = $1 and app_user.uuid = $2 and app_user.is_active`,
    [project.organization.id, userUuid],
  )
  if (rows[0] === undefined) throw denied('You both need to belong to the same organization.')
  const { rowCount } = await session.query(
    `insert into project_access (project_id, user_id, level, created_at, updated_at)
     values ($1, $2, $3, to_timestamp($4), to_timestamp($4)) on conflict (project_id, user_id) do nothing`,
    [project.id, rows[0].id, level, nowMs / 1000],
  )
  if (rowCount === 0) {
    const detail = 'This user likely already is an explicit member of the project.'
    throw new ServiceError('invalid_input', { detail })
  }
  await record(change, 'created', userUuid, { field: 'level', before: null, after: level })
  return await findExplicitMember(session, project.id, userUuid)
}

/** Errors: not_found, permission_denied, invalid_input. */
async function changeLevel(
  change: Change,
  userUuid: string,
  level: Static<typeof explicitLevel> | undefined,
): Promise<ExplicitMember> {
  const { session, project, principal, nowMs } = change
  const own = await lockAsAdministrator(change)
  const before = await findExplicitMember(session, project.id, userUuid)
  if (level === undefined) return before
  checkLevelGiven(own, level)
  if (userUuid === principal.userUuid) throw denied("You can't set your own access level.")
  if (level === before.level) return before
  await session.query('update project_access set level = $2, updated_at = to_timestamp($3) where id = $1', [
    before.id,
    level,
    nowMs / 1000,
  ])
  await record(change, 'updated', userUuid, { field: 'level', before: before.level, after: level })
  return await findExplicitMember(session, project.id, userUuid)
}

/** Errors: not_found, permission_denied. */
async function removeMember(change: Change, userUuid: string): Promise<void> {
  const { session, project, principal } = change
  if (userUuid === principal.userUuid) await lockProject(session, project.id)
  else checkAdministers((await lockProject(session, project.id)).level)
  const { id, level } = await findExplicitMember(session, project.id, userUuid)
  await record(change, 'deleted', userUuid, { field: 'level', before: level, after: null })
  await session.query('delete from project_access where id = $1', [id])
}

interface LockedProject {
  readonly access_control: boolean
  /** The caller's. */
  readonly level: number
}

/** Nobody's level in the project changes before the transaction ends. */
async function lockProject(session: Session, id: number): Promise<LockedProject> {
  const { rows } = await session.query<LockedProject>(
    'select access_control, spate_project_level(id) as level from project where id = $1 for update',
    [id],
  )
  if (rows[0] === undefined) throw new ServiceError('not_found', { detail: 'Project not found.' })
  return rows[0]
}

/** Returns the caller's level. Errors: permission_denied; invalid_input for a project that is open to all. */
async function lockAsAdministrator({ session, project }: Change): Promise<number> {
  const { access_control, level } = await lockProject(session, project.id)
  checkAdministers(level)
  if (access_control) return level
  const detail =
    'Explicit members can only be accessed for projects with project-based permissioning enabled.'
  throw new ServiceError('invalid_input', { detail })
}

function checkAdministers(level: number): void {
  if (level < levels.administrator) throw denied('Your project access level is insufficient.')
}

function checkLevelGiven(own: number, level: number): void {
  if (level > own) throw denied('You can only set access level to lower or equal to your current one.')
}

async function record(
  { session, project, nowMs, ...actor }: Change,
  activity: 'created' | 'updated' | 'deleted',
  userUuid: string,
  field: Field,
): Promise<void> {
  const entry = {
    organizationId: project.organization.id,
    projectId: project.id,
    activity,
    scope: 'ProjectMember',
    itemId: userUuid,
    changes: [field],
  }
  await recordActivity(session, actor, entry, nowMs)
}

function denied(detail: string): ServiceError {
  return new ServiceError('permission_denied', { detail })
}
