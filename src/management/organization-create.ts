// POST /api/organizations/: an organization with its first project, owned by who makes it.

import { levels } from '../api/access.ts'
import { makeKey } from '../api/keys.ts'
import { type Operation, userOperation } from '../api/operation.ts'
import { enterNewOrganization } from '../api/tenant-sql.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'
import { changesBetween, recordActivity } from './activity.ts'
import {
  findOrganization,
  organizationFields,
  organizationInput,
  organizationSchema,
  writeOrganization,
} from './organization-rows.ts'
import { slugsOf } from './slug.ts'

export function organizationCreate(clock: Clock): Operation {
  return userOperation({
    method: 'POST',
    path: '/api/organizations',
    operationId: 'organizations_create',
    summary: 'Create an organization with its first project; the caller owns it',
    tag: 'organizations',
    query: null,
    body: organizationInput,
    status: 201,
    response: organizationSchema,
    handle: ({ principal, sql, address, body }) => {
      if (principal.scopedOrganizations.length > 0) {
        const detail = 'API keys with scoped organizations cannot create organizations.'
        throw new ServiceError('permission_denied', { detail })
      }
      const id = makeUuidV7(clock.nowMs())
      return sql.transaction(async (session) => {
        await insertOrganization(session, {
          id,
          userId: principal.userId,
          nowMs: clock.nowMs(),
          name: body.name,
        })
        await writeOrganization(session, id, body, clock.nowMs())
        const created = await findOrganization(session, principal.userId, id)
        const changes = changesBetween({}, created, organizationFields)
        const entry = { organizationId: id, activity: 'created', scope: 'Organization', itemId: id, changes }
        await recordActivity(session, { principal, address }, entry, clock.nowMs())
        return created
      })
    },
  })
}

interface NewOrganization {
  readonly id: string
  readonly name: string
  /** Who owns it and is taken to it. */
  readonly userId: number
  readonly nowMs: number
}

async function insertOrganization(
  session: Session,
  { id, name, userId, nowMs }: NewOrganization,
): Promise<void> {
  await enterNewOrganization(session, id)
  await insertWithSlug(session, id, name, nowMs)
  await session.query(
    `insert into membership (id, organization_id, user_id, level, joined_at, updated_at)
     values ($1, $2, $3, $4, to_timestamp($5), to_timestamp($5))`,
    [makeUuidV7(nowMs), id, userId, levels.owner, nowMs / 1000],
  )
  const { rows } = await session.query<{ id: number }>(
    `insert into project (uuid, organization_id, api_token, created_at, updated_at)
     values ($1, $2, $3, to_timestamp($4), to_timestamp($4)) returning id`,
    [makeUuidV7(nowMs), id, makeKey('phc_'), nowMs / 1000],
  )
  await session.query(
    'update app_user set current_organization_id = $2, current_project_id = $3 where id = $1',
    [userId, id, rows[0]!.id], // an insert that returns has one row
  )
}

async function insertWithSlug(session: Session, id: string, name: string, nowMs: number): Promise<void> {
  for (const slug of slugsOf(name)) {
    const { rowCount } = await session.query(
      `insert into organization (id, name, slug, created_at, updated_at)
       values ($1, $2, $3, to_timestamp($4), to_timestamp($4)) on conflict (slug) do nothing`,
      [id, name, slug, nowMs / 1000],
    )
    if (rowCount === 1) return
  }
  throw new Error('assertion failed: one of ten random slugs is free')
}
