// GET /api/organizations/:organization_id/members/:user__uuid/scoped_api_keys/: whether a member's keys open the
// organization, and which; for who is about to remove one.

import { type Operation, organizationOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import type { Clock } from '../lib/clock.ts'
import { findMember } from './member-rows.ts'
import { uuidOf } from './members.ts'

const weekSeconds = 7 * 24 * 3600

const keysSchema = Type.Object({
  has_keys: Type.Boolean(),
  has_keys_active_last_week: Type.Boolean(),
  keys: Type.Array(
    Type.Object({
      name: Type.String(),
      last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    }),
  ),
})

export function memberKeys(clock: Clock): Operation {
  return organizationOperation({
    method: 'GET',
    path: '/api/organizations/:organization_id/members/:user__uuid/scoped_api_keys',
    operationId: 'members_scoped_api_keys_retrieve',
    summary: "Which of a member's keys open the organization",
    tag: 'members',
    query: null,
    body: null,
    status: 200,
    response: keysSchema,
    handle: async ({ organization, principal, params, sql }) => {
      const nowSeconds = clock.nowMs() / 1000
      const { user } = await findMember(sql, organization.id, uuidOf(params, principal))
      const { rows } = await sql.query<{ name: string; last_used_at: string | null; is_active: boolean }>(
        `select label as name, last_used_at,
           coalesce(last_used_at > to_timestamp($3) - make_interval(secs => $4), false) as is_active
         from personal_api_key key
         where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > to_timestamp($3))
           and (scoped_organizations = '{}' or $2 = any (scoped_organizations))
           and (scoped_teams = '{}' or exists (
             select from project where organization_id = $2 and id = any (key.scoped_teams)))
         order by last_used_at desc nulls last, id`,
        [user.id, organization.id, nowSeconds, weekSeconds],
      )
      return {
        has_keys: rows.length > 0,
        has_keys_active_last_week: rows.some((row) => row.is_active),
        keys: rows.map(({ name, last_used_at }) => ({ name, last_used_at })),
      }
    },
  })
}
