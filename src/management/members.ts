// /api/organizations/:organization_id/members/: who belongs to an organization, and at which level.

import { levels } from '../api/access.ts'
import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { type Operation, organizationOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import type { Principal } from '../api/principal.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Session } from '../postgres/pool.ts'
import { type Actor, recordActivity } from './activity.ts'
import { endInvites } from './invite-create.ts'
import { findMember, type MemberRow, memberLevel, memberSchema, selectMembersByName } from './member-rows.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const me = '@me'
const memberInput = Type.Object({ level: memberLevel })

const query = Type.Object({
  email: Type.Optional(Type.String({ description: 'Only the member of this email.' })),
  ...pageQuery,
})

const membersPath = '/api/organizations/:organization_id/members'
const memberPath = `${membersPath}/:user__uuid`
const common = { path: memberPath, tag: 'members', query: null } as const

export function memberOperations(clock: Clock): Operation[] {
  const list = organizationOperation({
    method: 'GET',
    path: membersPath,
    operationId: 'members_list',
    summary: 'List active members',
    tag: 'members',
    query,
    body: null,
    status: 200,
    response: envelopeOf(memberSchema),
    handle: ({ organization, sql, query, request, url }) =>
      countedPage<MemberRow>(sql, {
        // A condition on users, even one that lets all pass, would look at each of them.
        select: query.email
          ? `${selectMembersByName} and lower(app_user.email) = lower($2)`
          : selectMembersByName,
        params: query.email ? [organization.id, query.email] : [organization.id],
        order: 'list_name, joined_at desc, id',
        url,
        page: pageOf(request.query),
      }),
  })
  const summary = 'Change the level of a member'
  const changes = { input: memberInput, name: 'members', put: summary, patch: summary }
  const updates = changeOperations(changes, (verb) =>
    organizationOperation({
      ...common,
      ...verb,
      status: 200,
      response: memberSchema,
      handle: ({ organization, params, sql, body, ...actor }) =>
        sql.transaction((session) =>
          changeLevel(
            session,
            actor,
            organization.id,
            uuidOf(params, actor.principal),
            body.level,
            clock.nowMs(),
          ),
        ),
    }),
  )
  const destroy = organizationOperation({
    ...common,
    method: 'DELETE',
    operationId: 'members_destroy',
    summary: 'Remove a member, or leave',
    body: null,
    status: 204,
    response: null,
    handle: ({ organization, params, sql, ...actor }) =>
      sql.transaction((session) =>
        remove(session, actor, organization.id, uuidOf(params, actor.principal), clock.nowMs()),
      ),
  })
  return [list, ...updates, destroy]
}

/** Errors: not_found for what is no uuid. */
export function uuidOf(params: Readonly<Record<string, string>>, { userUuid }: Principal): string {
  const given = params.user__uuid ?? ''
  if (given === me) return userUuid
  if (!uuidPattern.test(given)) throw new ServiceError('not_found')
  return given.toLowerCase()
}

/** Who acts on whom. Nobody's level in the organization changes before the transaction ends. */
async function lockPair(session: Session, organizationId: string, { userUuid }: Principal, uuid: string) {
  await session.query('select from organization where id = $1 for update', [organizationId])
  const target = await findMember(session, organizationId, uuid)
  const caller = uuid === userUuid ? target : await findMember(session, organizationId, userUuid)
  return { target, caller, isSelf: uuid === userUuid }
}

type MemberActor = Actor & { readonly principal: Principal }

async function changeLevel(
  session: Session,
  actor: MemberActor,
  organizationId: string,
  uuid: string,
  level: MemberRow['level'] | undefined,
  nowMs: number,
): Promise<MemberRow> {
  const { target, caller, isSelf } = await lockPair(session, organizationId, actor.principal, uuid)
  if (level === undefined) return target
  if (isSelf) throw denied("You can't change your own access level.")
  if (caller.level < levels.administrator) throw denied('You can only edit others if you are an admin.')
  if (target.level > caller.level) throw denied('You can only edit others with level lower or equal to you.')
  if (level > caller.level) {
    throw denied(
      level === levels.owner
        ? "You can only make another member owner if you're this organization's owner."
        : 'You can only change access level of others to lower or equal to your current one.',
    )
  }
  if (level === target.level) return target
  await session.query('update membership set level = $2, updated_at = to_timestamp($3) where id = $1', [
    target.id,
    level,
    nowMs / 1000,
  ])
  const changes = [{ field: 'level', before: target.level, after: level }]
  const entry = { organizationId, activity: 'updated', scope: 'OrganizationMember', itemId: uuid, changes }
  await recordActivity(session, actor, entry, nowMs)
  await endInvites(session, actor, { organizationId, userId: target.user.id, level }, nowMs)
  return await findMember(session, organizationId, uuid)
}

async function remove(
  session: Session,
  actor: MemberActor,
  organizationId: string,
  uuid: string,
  nowMs: number,
): Promise<void> {
  const { target, caller, isSelf } = await lockPair(session, organizationId, actor.principal, uuid)
  if (!isSelf && (caller.level < levels.administrator || target.level > caller.level)) {
    throw denied('Your organization access level is insufficient.')
  }
  if (target.level === levels.owner) {
    throw new ServiceError('invalid_input', { detail: 'Cannot leave the organization as its owner!' })
  }
  const changes = [{ field: 'level', before: target.level, after: null }]
  const entry = { organizationId, activity: 'deleted', scope: 'OrganizationMember', itemId: uuid, changes }
  await recordActivity(session, actor, entry, nowMs)
  await endInvites(session, actor, { organizationId, userId: target.user.id, level: 0 }, nowMs)
  await session.query(
    `update app_user set current_organization_id = null, current_project_id = null
     where id = $1 and current_organization_id = $2`,
    [target.user.id, organizationId],
  )
  // Before the membership: who leaves does not see private projects after it.
  await session.query(
    `delete from project_access using project
     where project.id = project_access.project_id and organization_id = $1 and user_id = $2`,
    [organizationId, target.user.id],
  )
  await session.query('delete from membership where id = $1', [target.id])
}

function denied(detail: string): ServiceError {
  return new ServiceError('permission_denied', { detail })
}
