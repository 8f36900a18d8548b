// /api/users/@me/: the user behind the key, and where the user is: `@current` in a path means that organization and
// project.

import { type Operation, userOperation } from '../api/operation.ts'
import type { Principal } from '../api/principal.ts'
import { Type } from '../api/schema.ts'
import { currentFirst } from '../api/tenant.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Session } from '../postgres/pool.ts'
import { type Actor, changesBetween, recordActivity } from './activity.ts'
import { roles, userJson, userSchema } from './user-rows.ts'

const organizationSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  slug: Type.String(),
  membership_level: Type.Integer(),
})

const meSchema = Type.Object({
  ...userSchema.properties,
  organization: Type.Union([organizationSchema, Type.Null()]),
  organizations: Type.Array(organizationSchema),
  team: Type.Union([
    Type.Object({
      id: Type.Integer(),
      uuid: Type.String({ format: 'uuid' }),
      organization: Type.String({ format: 'uuid' }),
      api_token: Type.String(),
      name: Type.String(),
      timezone: Type.String(),
    }),
    Type.Null(),
  ]),
})

const objectOfAnyKeys = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

const userInput = Type.Object({
  first_name: Type.Optional(Type.String({ maxLength: 150 })),
  last_name: Type.Optional(Type.String({ maxLength: 150 })),
  role_at_organization: Type.Optional(
    Type.Union([...roles.map((role) => Type.Literal(role)), Type.Literal(''), Type.Null()]),
  ),
  hedgehog_config: Type.Optional(Type.Union([objectOfAnyKeys, Type.Null()])),
  set_current_organization: Type.Optional(Type.String({ format: 'uuid' })),
  set_current_team: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
})

/** What colleagues see of it. */
const profileFields = ['first_name', 'last_name', 'role_at_organization', 'hedgehog_config']

const placeColumns =
  'current_organization_id as "currentOrganizationId", current_project_id as "currentProjectId"'

const common = { path: '/api/users/@me', tag: 'users', query: null, status: 200, response: meSchema } as const

export function currentUserOperations(clock: Clock): Operation[] {
  const retrieve = userOperation({
    ...common,
    method: 'GET',
    operationId: 'users_retrieve',
    summary: 'Retrieve the caller',
    body: null,
    handle: ({ principal, sql }) => findUser(sql, principal, principal),
  })
  const patch = userOperation({
    ...common,
    method: 'PATCH',
    operationId: 'users_partial_update',
    summary: 'Change fields of the caller, and where the caller is',
    body: userInput,
    handle: ({ principal, sql, address, body }) => {
      const { set_current_organization: organizationId, set_current_team: projectId, ...fields } = body
      return sql.transaction(async (session) => {
        let place: Place = principal
        if (organizationId !== undefined) place = await goToOrganization(session, principal, organizationId)
        if (projectId !== undefined) place = await goToProject(session, principal, projectId)
        const before = await findUser(session, principal, place)
        await session.query(
          `update app_user set updated_at = to_timestamp($3), (first_name, last_name, role_at_organization,
             hedgehog_config) = (select written.first_name, written.last_name, written.role_at_organization,
             written.hedgehog_config from jsonb_populate_record(app_user, $2) written)
           where id = $1`,
          [principal.userId, JSON.stringify(fields), clock.nowMs() / 1000],
        )
        const after = await findUser(session, principal, place)
        await recordProfile(session, { principal, address }, before, after, clock.nowMs())
        return after
      })
    },
  })
  return [retrieve, patch]
}

/** Tells the organizations that the key opens under which name they will see the user. */
async function recordProfile(
  session: Session,
  actor: Actor & { readonly principal: Principal },
  before: object,
  after: object,
  nowMs: number,
): Promise<void> {
  const { userId, userUuid } = actor.principal
  const changes = changesBetween(before, after, profileFields)
  if (changes.length === 0) return
  const { rows } = await session.query<{ organization_id: string }>(
    'select organization_id from membership where user_id = $1 order by organization_id',
    [userId],
  )
  for (const { organization_id: organizationId } of rows) {
    const entry = { organizationId, activity: 'updated', scope: 'User', itemId: userUuid, changes }
    await recordActivity(session, actor, entry, nowMs)
  }
}

/** Where the user is. */
type Place = Pick<Principal, 'currentOrganizationId' | 'currentProjectId'>

/** Organizations and project as far as the key opens them. A key of some projects is taken to none of them. */
async function findUser(
  session: Session,
  { userId, scopedProjects }: Principal,
  place: Place,
): Promise<object> {
  const { rows } = await session.query<{ me: object }>(
    `with opened as (
       select organization.id, jsonb_build_object('id', organization.id, 'name', name, 'slug', slug,
         'membership_level', level) as shown
       from organization join membership on membership.organization_id = organization.id and user_id = $1
     )
     select ${userJson} || jsonb_build_object(
       'organization', (select shown from opened where id = $2),
       'organizations', coalesce((select jsonb_agg(shown order by id) from opened), '[]'),
       'team', (select jsonb_build_object('id', id, 'uuid', uuid, 'organization', organization_id,
          'api_token', api_token, 'name', name, 'timezone', timezone)
         from project where organization_id = $2 and ($4 or id = $3) ${currentFirst('$3')})) as me
     from app_user where id = $1`,
    [userId, place.currentOrganizationId, place.currentProjectId, scopedProjects.length === 0],
  )
  return rows[0]!.me // whoever has authenticated exists
}

async function goToOrganization(session: Session, { userId }: Principal, id: string): Promise<Place> {
  const { rows } = await session.query<Place>(
    `update app_user set current_organization_id = organization.id, current_project_id = (
       select id from project where organization_id = organization.id ${currentFirst('null')})
     from organization where app_user.id = $1 and organization.id = $2
     returning ${placeColumns}`,
    [userId, id],
  )
  if (rows[0] === undefined) throw doesNotExist(id, 'set_current_organization')
  return rows[0]
}

async function goToProject(session: Session, { userId }: Principal, id: number): Promise<Place> {
  const { rows } = await session.query<Place>(
    `update app_user set current_organization_id = project.organization_id, current_project_id = project.id
     from project where app_user.id = $1 and project.id = $2
     returning ${placeColumns}`,
    [userId, id],
  )
  if (rows[0] === undefined) throw doesNotExist(id, 'set_current_team')
  return rows[0]
}

function doesNotExist(id: string | number, attr: string): ServiceError {
  const detail = `Invalid pk "${id}" - object does not exist.`
  return new ServiceError('does_not_exist', { detail, attr })
}
