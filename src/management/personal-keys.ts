// /api/personal_api_keys/: the caller's own keys. A key is shown when it is made and never again; a change holds from
// the next request on.

import type { Static } from 'typebox'
import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { hashKey, makeKey, maskKey } from '../api/keys.ts'
import { type Operation, userOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import type { Principal } from '../api/principal.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'
import { recordKeyActivity } from './personal-key-activity.ts'
import { checkCovers, checkScopes, checkTenants } from './personal-key-power.ts'
import {
  findPersonalKey,
  type PersonalKeyInput,
  type PersonalKeyRow,
  personalKeyInput,
  personalKeySchema,
  selectPersonalKeys,
} from './personal-key-rows.ts'

type PersonalKey = Static<typeof personalKeySchema>

/** Keys of one user. */
const keysMax = 100

const keysPath = '/api/personal_api_keys'
const keyPath = `${keysPath}/:id`
const common = { tag: 'personal_api_keys', query: null, status: 200, response: personalKeySchema } as const

export function personalKeyOperations(clock: Clock): Operation[] {
  const list = userOperation({
    ...common,
    method: 'GET',
    path: keysPath,
    operationId: 'personal_api_keys_list',
    summary: "List the caller's keys, newest first",
    query: Type.Object(pageQuery),
    body: null,
    response: envelopeOf(personalKeySchema),
    handle: ({ principal, sql, request, url }) =>
      countedPage<PersonalKeyRow>(sql, {
        select: selectPersonalKeys,
        params: [principal.userId],
        order: 'created_at desc, id',
        url,
        page: pageOf(request.query),
      }),
  })
  const create = userOperation({
    ...common,
    method: 'POST',
    path: keysPath,
    operationId: 'personal_api_keys_create',
    summary: 'Make a key; its value is shown this once',
    body: personalKeyInput,
    status: 201,
    handle: ({ principal, sql, address, body }) =>
      sql.transaction(async (session) => {
        const nowMs = clock.nowMs()
        const made = await createKey(session, principal, body, nowMs)
        await recordKeyActivity(session, { principal, address }, 'created', null, made, nowMs)
        return made
      }),
  })
  return [list, create, ...oneKeyOperations(clock)]
}

function oneKeyOperations(clock: Clock): Operation[] {
  const retrieve = userOperation({
    ...common,
    method: 'GET',
    path: keyPath,
    operationId: 'personal_api_keys_retrieve',
    summary: 'Retrieve a key, without its value',
    body: null,
    handle: ({ principal, sql, params }) => findPersonalKey(sql, principal.userId, idOf(params, principal)),
  })
  const summary = 'Change what a key may do'
  const changes = { input: personalKeyInput, name: 'personal_api_keys', put: summary, patch: summary }
  const updates = changeOperations(changes, (verb) =>
    userOperation({
      ...common,
      ...verb,
      path: keyPath,
      handle: ({ principal, sql, address, params, body }) =>
        sql.transaction(async (session) => {
          const nowMs = clock.nowMs()
          const before = await lockKey(session, principal, idOf(params, principal))
          const after = await changeKey(session, principal, before, body, nowMs)
          await recordKeyActivity(session, { principal, address }, 'updated', before, after, nowMs)
          return after
        }),
    }),
  )
  const destroy = userOperation({
    ...common,
    method: 'DELETE',
    path: keyPath,
    operationId: 'personal_api_keys_destroy',
    summary: 'Revoke a key',
    body: null,
    status: 204,
    response: null,
    handle: ({ principal, sql, address, params }) =>
      sql.transaction(async (session) => {
        const key = await lockKey(session, principal, idOf(params, principal))
        const nowMs = clock.nowMs()
        await session.query('update personal_api_key set revoked_at = to_timestamp($2) where id = $1', [
          key.id,
          nowMs / 1000,
        ])
        await recordKeyActivity(session, { principal, address }, 'deleted', key, null, nowMs)
      }),
  })
  const roll = userOperation({
    ...common,
    method: 'POST',
    path: `${keyPath}/roll`,
    operationId: 'personal_api_keys_roll',
    summary: 'Give a key a new value, shown this once; the old one ends at once',
    body: null,
    handle: ({ principal, sql, address, params }) =>
      sql.transaction((session) =>
        rollKey(session, { principal, address }, idOf(params, principal), clock.nowMs()),
      ),
  })
  return [retrieve, ...updates, destroy, roll]
}

function idOf(params: Readonly<Record<string, string>>, { keyId }: Principal): string {
  const given = params.id ?? ''
  if (given === '@current') return keyId
  // A path may hold what no text of Postgres does.
  if (given.includes('\0')) throw new ServiceError('not_found')
  return given
}

/** A key that may do more than the caller's is not for the caller's to change, roll or revoke. */
async function lockKey(session: Session, principal: Principal, id: string): Promise<PersonalKeyRow> {
  await session.query('select from personal_api_key where id = $1 and user_id = $2 for update', [
    id,
    principal.userId,
  ])
  const key = await findPersonalKey(session, principal.userId, id)
  checkCovers(principal, key)
  return key
}

async function createKey(
  session: Session,
  principal: Principal,
  input: PersonalKeyInput,
  nowMs: number,
): Promise<PersonalKey> {
  const { rows } = await session.query<{ count: number }>(
    'select count(*) from personal_api_key where user_id = $1 and revoked_at is null',
    [principal.userId],
  )
  if ((rows[0]?.count ?? 0) >= keysMax) {
    const detail = `You can only have ${keysMax} personal API keys. Remove an existing key before creating a new one.`
    throw new ServiceError('invalid_input', { detail })
  }
  const [id, value] = [makeUuidV7(nowMs), makeKey('phx_')]
  await session.query(
    `insert into personal_api_key (id, user_id, label, secure_value, mask_value, scopes, created_at)
     values ($1, $2, $3, $4, $5, '{}', to_timestamp($6))`,
    [id, principal.userId, input.label, hashKey(value), maskKey(value), nowMs / 1000],
  )
  const nothing = await findPersonalKey(session, principal.userId, id)
  return { ...(await changeKey(session, principal, nothing, input, nowMs)), value }
}

async function rollKey(
  session: Session,
  actor: { readonly principal: Principal; readonly address: string },
  id: string,
  nowMs: number,
): Promise<PersonalKey> {
  const { principal } = actor
  const before = await lockKey(session, principal, id)
  const value = makeKey('phx_')
  await session.query('update personal_api_key set secure_value = $2, mask_value = $3 where id = $1', [
    id,
    hashKey(value),
    maskKey(value),
  ])
  const rolled = await findPersonalKey(session, principal.userId, id)
  await recordKeyActivity(session, actor, 'rolled', before, rolled, nowMs)
  return { ...rolled, value }
}

/** Writes the fields that `input` has; the others stay. */
async function changeKey(
  session: Session,
  principal: Principal,
  before: PersonalKeyRow,
  input: Partial<PersonalKeyInput>,
  nowMs: number,
): Promise<PersonalKeyRow> {
  const after = {
    label: input.label ?? before.label,
    scopes: [...new Set(input.scopes ?? before.scopes)],
    scoped_organizations: limitOf(input.scoped_organizations, before.scoped_organizations),
    scoped_teams: limitOf(input.scoped_teams, before.scoped_teams),
    expires_at: input.expires_at === undefined ? before.expires_at : input.expires_at,
  }
  checkScopes(after.scopes)
  if (typeof input.expires_at === 'string' && Date.parse(input.expires_at) <= nowMs) {
    throw new ServiceError('invalid_input', { detail: 'This moment has passed.', attr: 'expires_at' })
  }
  checkCovers(principal, after)
  if (input.scoped_organizations || input.scoped_teams) await checkTenants(session, after)
  await session.query(
    `update personal_api_key set label = $2, scopes = $3, scoped_organizations = $4, scoped_teams = $5,
       expires_at = $6 where id = $1`,
    [before.id, after.label, after.scopes, after.scoped_organizations, after.scoped_teams, after.expires_at],
  )
  return await findPersonalKey(session, principal.userId, before.id)
}

/** Null is no limit, as the empty list is. */
function limitOf<T>(sent: readonly T[] | null | undefined, before: readonly T[]): readonly T[] {
  return sent === undefined ? before : [...new Set(sent ?? [])]
}
