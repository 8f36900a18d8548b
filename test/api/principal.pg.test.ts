import t from 'tap'
import { hashKey } from '../../src/api/keys.ts'
import { openAuthentication } from '../../src/api/principal.ts'
import { RateLimit } from '../../src/api/rate-limit.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { freshPostgres, silentLog as log } from '../support/postgres.ts'
import { addKey, fillTenants, ids } from './world.ts'

const startMs = Date.UTC(2024, 4, 1, 12)

function open(postgres: Postgres) {
  const moving = { ms: startMs }
  const clock: Clock = { nowMs: () => moving.ms, monotonicMs: () => moving.ms }
  const { authenticate } = openAuthentication({ postgres, rateLimit: new RateLimit(clock), clock, log })
  return { moving, authenticate }
}

t.test('finds the user behind a key', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const limits = { scopes: ['project:read'], organizations: [ids.ours], projects: [2] }
  await addKey(postgres, 'phx_limited', 2, limits)
  const { authenticate } = open(postgres)
  t.match(await authenticate('Bearer phx_limited', '1.2.3.4'), {
    keyId: 'phx_limited',
    scopes: ['project:read'],
    scopedOrganizations: [ids.ours],
    scopedProjects: [2],
    userId: 2,
    email: 'administrator@spate.example',
    currentOrganizationId: ids.ours,
    currentProjectId: 1,
  })
})

t.test('asks for a key where none was sent in the form of one', async (t) => {
  const { authenticate } = open(await freshPostgres(t))
  for (const header of ['', 'Basic eDp5', 'bearer phx_member', 'Bearer ', 'Bearer x', 'Bearer a b']) {
    await t.rejects(authenticate(header, '1.2.3.4'), {
      code: 'not_authenticated',
      detail: 'Authentication credentials were not provided.',
    })
  }
})

t.test('says the same of unknown, revoked and expired keys and of those of inactive users', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  await addKey(postgres, 'phx_expired', 1, { expiresAt: '2024-05-01T12:00:00Z' })
  await addKey(postgres, 'phx_later', 1, { expiresAt: '2024-05-01T12:00:01Z' })
  const { authenticate } = open(postgres)
  await authenticate('Bearer phx_member', '1.2.3.4')
  await authenticate('Bearer phx_later', '1.2.3.4')
  await postgres.query(`update personal_api_key set revoked_at = now() where id = 'phx_member'`)
  await postgres.query('update app_user set is_active = false where id = 3')
  for (const key of ['phx_wrong', 'phc_1', 'phx_expired', 'phx_member', 'phx_owner', 'p'.repeat(5000)]) {
    await t.rejects(authenticate(`Bearer ${key}`, '1.2.3.4'), {
      code: 'authentication_failed',
      detail: 'Personal API key found in request Authorization header is invalid.',
    })
  }
})

t.test('notes the last use of a key at most once an hour', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const { authenticate, moving } = open(postgres)
  const lastUse = async (): Promise<unknown> => {
    const found = await postgres.query<{ last_used_at: string }>(
      `select last_used_at from personal_api_key where id = 'phx_owner'`,
    )
    return found.rows[0]?.last_used_at
  }
  await authenticate('Bearer phx_owner', '1.2.3.4')
  t.equal(await lastUse(), '2024-05-01T12:00:00Z')
  moving.ms = startMs + 3_600_000
  await authenticate('Bearer phx_owner', '1.2.3.4')
  t.equal(await lastUse(), '2024-05-01T12:00:00Z')
  moving.ms = startMs + 3_601_000
  await authenticate('Bearer phx_owner', '1.2.3.4')
  t.equal(await lastUse(), '2024-05-01T13:00:01Z')
})

t.test('throttles a key, and an address that guesses', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const { authenticate } = open(postgres)
  for (let count = 0; count < 10; count++) {
    await t.rejects(authenticate(`Bearer phx_guess${count}`, '6.6.6.6'), { code: 'authentication_failed' })
  }
  await t.rejects(authenticate('Bearer phx_member', '6.6.6.6'), { code: 'throttled' })
  for (let count = 0; count < 480; count++) await authenticate('Bearer phx_member', '1.2.3.4')
  await t.rejects(authenticate('Bearer phx_member', '1.2.3.4'), { code: 'throttled' })
  await postgres.query(`update personal_api_key set secure_value = $1 where id = 'phx_member'`, [
    hashKey('phx_rolled'),
  ])
  await t.rejects(authenticate('Bearer phx_rolled', '1.2.3.4'), { code: 'throttled' })
})

t.test('cannot tell while Postgres is away', async (t) => {
  const postgres = openPostgres({ connectionString: 'postgresql://spate@127.0.0.1:1/spate', log })
  t.teardown(() => postgres.close())
  const { authenticate } = open(postgres)
  await t.rejects(authenticate('Bearer phx_member', '1.2.3.4'), { code: 'postgres_unavailable' })
})
