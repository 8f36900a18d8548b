// Walks every operation with ids and query parameters that nobody means: each gets an answer, none an error of ours.

import t from 'tap'
import type { Operation } from '../../src/api/operation.ts'
import { managementOperations } from '../../src/management/routes.ts'
import { ids, jsonOf, openWorld, type World } from '../api/world.ts'
import { fill, hasInnerId } from './sweep.ts'

/** As they stand in a path, percent-encoded. */
const strangeIds = [
  '%00',
  '%FF',
  '%F0%9F%98%80',
  '-1',
  '0',
  '1.5',
  '99999999999',
  '@me',
  "1'--",
  '..%2f1',
  '%20',
]
const strangeValues = [
  ...strangeIds,
  '%ED%A0%80',
  '1e400',
  '0x10',
  'NaN',
  '[]',
  '[[[[',
  '{"a":1}',
  '[{"key":"a%00","value":1,"operator":"gt"}]',
  '2024-13-45T00:00:00Z',
  '9999-12-31T23:59:59%2B00:00',
  'a'.repeat(5_000),
]

/** Asks and returns what is wrong with the answer; null when nothing is. */
async function fault(world: World, { method }: Operation, path: string): Promise<string | null> {
  world.clock.ms += 1_000
  const key = 'phx_owner'
  const isRead = method === 'GET' || method === 'DELETE'
  const { status, text } = isRead
    ? await world.get(path, key, method)
    : await world.send(method, path, '{}', key)
  return status < 500 ? null : `${method} ${path.slice(0, 200)}: ${status} ${text}`
}

t.test('no id in a path is an error of the server', async (t) => {
  const world = await openWorld(t)
  let count = 0
  for (const operation of managementOperations(world.management)) {
    if (operation.method === 'DELETE' && !hasInnerId(operation)) continue
    for (const id of strangeIds) {
      const inner = hasInnerId(operation) ? fill(operation, ids.ours, ids.ourProject, id) : null
      const outer = operation.path.replaceAll(/:\w+/g, id)
      const path = inner ?? (outer === operation.path ? null : `${outer}/`)
      if (path === null) break
      count++
      const found = await fault(world, operation, path)
      if (found !== null) t.fail(found)
    }
  }
  t.ok(count > 500, `${count} paths`)
})

t.test('no query parameter is an error of the server', async (t) => {
  const world = await openWorld(t)
  let count = 0
  for (const operation of managementOperations(world.management)) {
    if (operation.query === null) continue
    const path = fill(operation, ids.ours, ids.ourProject, 1)
    for (const name of Object.keys(operation.query.properties)) {
      for (const value of strangeValues) {
        count++
        const found = await fault(world, operation, `${path}?${name}=${value}`)
        if (found !== null) t.fail(found)
      }
    }
  }
  t.ok(count > 500, `${count} queries`)
})

t.test('what only the server writes is not written by a body', async (t) => {
  const world = await openWorld(t)
  const [past, other] = ['2001-01-01T00:00:00Z', '00000000-0000-4000-8000-0000000000ff']
  const owned = {
    id: 77,
    uuid: other,
    organization: ids.theirs,
    organization_id: ids.theirs,
    created_at: past,
  }
  const organization = `/api/organizations/${ids.ours}/`
  const project = await world.send('PATCH', '/api/projects/1/', {
    ...owned,
    name: 'Same',
    api_token: 'phc_mine',
    effective_membership_level: 15,
    ingested_event: true,
  })
  t.match(jsonOf(project), { id: 1, organization: ids.ours, api_token: 'phc_1', ingested_event: false })
  const made = await world.send('POST', `${organization}domains/`, {
    ...owned,
    domain: 'ours.example',
    is_verified: true,
    verified_at: past,
    verification_challenge: 'mine',
    has_saml: true,
  })
  t.match(jsonOf(made), { is_verified: false, verified_at: null, has_saml: false })
  t.not(jsonOf(made).verification_challenge, 'mine')
  const invited = await world.send('POST', `${organization}invites/`, {
    ...owned,
    target_email: 'new@spate.example',
    created_by: 4,
    is_expired: true,
    emailing_attempt_made: true,
    token_hash: 'mine',
  })
  t.match(jsonOf(invited), { created_by: { id: 3 }, is_expired: false, emailing_attempt_made: false })
  const key = await world.send('POST', '/api/personal_api_keys/', {
    ...owned,
    label: 'a',
    scopes: [],
    user: 4,
    user_id: 4,
    value: 'phx_mine',
    secure_value: 'mine',
  })
  t.match(jsonOf(key), { created_at: '2024-05-01T12:00:00Z' })
  t.not(jsonOf(key).value, 'phx_mine')
  const changed = {
    ...owned,
    email: 'x@spate.example',
    is_active: false,
    is_email_verified: true,
    is_staff: true,
  }
  t.match(jsonOf(await world.send('PATCH', '/api/users/@me/', changed)), {
    id: 3,
    email: 'owner@spate.example',
  })
  const { rows } = await world.postgres.query(
    `select (select count(*) from project where organization_id = $1) as projects,
       (select count(*) from personal_api_key where user_id = 4) as keys,
       (select count(*) from app_user where not is_active or is_email_verified) as changed`,
    [ids.theirs],
  )
  t.same(rows, [{ projects: 1, keys: 1, changed: 0 }])
})

t.test('two owners who demote each other at once leave one', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query('update membership set level = 15 where user_id = 2')
  const { rows } = await world.postgres.query<{ id: number; uuid: string }>('select id, uuid from app_user')
  const path = (id: number) =>
    `/api/organizations/${ids.ours}/members/${rows.find((row) => row.id === id)?.uuid}/`
  const replies = await Promise.all([
    world.send('PATCH', path(2), { level: 1 }, 'phx_owner'),
    world.send('PATCH', path(3), { level: 1 }, 'phx_administrator'),
  ])
  t.same(replies.map(({ status }) => status).sort(), [200, 403])
  const owners = await world.postgres.query(
    'select from membership where organization_id = $1 and level = 15',
    [ids.ours],
  )
  t.equal(owners.rowCount, 1)
})
