// The endpoints while Postgres is away, slow, or has not been there yet.

import t, { type Test } from 'tap'
import { encodeProjects } from '../../src/capture/projects.ts'
import type { ProjectDefinitions } from '../../src/flags/definition.ts'
import { type FlagEndpoints, openFlagEndpoints } from '../../src/flags/endpoints.ts'
import { openHttpServer } from '../../src/http/server.ts'
import type { Position } from '../../src/journal/journal.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { freshDatabase, silentLog as log } from '../support/postgres.ts'
import { definitionsOf, flag } from './make.ts'

const nowhere = 'postgresql://spate@127.0.0.1:1/spate'
const plan = { key: 'plan', value: 'pro', type: 'person' } as const
const definitions = definitionsOf([
  flag('everyone', { groups: [{}] }, { id: 1 }),
  flag('pro', { groups: [{ properties: [plan] }] }, { id: 2 }),
  flag('kept', { groups: [{ rollout_percentage: 50 }] }, { id: 3, ensureExperienceContinuity: true }),
])

async function open(
  t: Test,
  connectionString: Promise<string>,
  known: ProjectDefinitions | null = definitions,
): Promise<(more?: object, path?: string) => Promise<Record<string, unknown>>> {
  const position = 0 as Position // nothing was ever applied
  const snapshot = encodeProjects([{ id: 1, apiKey: 'phc_1', anonymizeIps: false, overQuota: false }])
  const endpoints: FlagEndpoints = openFlagEndpoints({
    connectionString,
    definitions: { of: () => known },
    projects: { snapshot: () => snapshot, lookUp: async () => 'unknown' },
    persons: {
      state: () => ({ reason: null, applied: { realtime: position } }),
      onApplied: () => {},
      onTouched: () => {},
    },
    geoip: null,
    clock,
    log,
  })
  t.teardown(() => endpoints.close())
  const server = await openHttpServer({ host: '127.0.0.1', port: 0, routes: [...endpoints.routes], log })
  t.teardown(() => server.closeNow())
  return async (more = {}, path = '/flags/?v=2') => {
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: 'phc_1', distinct_id: 'u', ...more }),
    })
    t.equal(reply.status, 200)
    // Written by the endpoint; the tests check what they read.
    return (await reply.json()) as Record<string, unknown>
  }
}

const failed = { enabled: false, failed: true, reason: { code: 'properties_unavailable' } }

t.test('while Postgres is away, flags that need nothing stored are still computed', async (t) => {
  const ask = await open(t, Promise.resolve(nowhere))
  t.match(await ask(), {
    errorsWhileComputingFlags: true,
    flags: { everyone: { enabled: true }, pro: failed, kept: failed },
  })
  t.match(await ask({ person_properties: { plan: 'pro' }, flag_keys: ['everyone', 'pro'] }), {
    errorsWhileComputingFlags: false,
    flags: { everyone: { enabled: true }, pro: { enabled: true } },
  })
  const old = await ask({}, '/decide/?v=3')
  t.same(old.featureFlags, { everyone: true }, 'a shape that knows no failure leaves them out')
  t.equal(old.errorsWhileComputingFlags, true)
  t.same((await ask({}, '/decide/')).featureFlags, ['everyone'])
  t.same((await ask({}, '/decide/?v=2')).featureFlags, { everyone: true })
})

t.test('what a person was cannot be kept while Postgres is away, and the answer says so', async (t) => {
  const ask = await open(t, Promise.resolve(nowhere))
  const answer = await ask({ $anon_distinct_id: 'a', flag_keys: ['everyone', 'kept'] })
  t.match(answer, { errorsWhileComputingFlags: true, flags: { everyone: { enabled: true }, kept: failed } })
})

t.test('a database that has never been there is no different', async (t) => {
  const ask = await open(t, new Promise(() => {}))
  t.match(await ask(), {
    errorsWhileComputingFlags: true,
    flags: { everyone: { enabled: true }, pro: failed },
  })
  t.match(await ask({}, '/decide?v=3'), {
    supportedCompression: ['gzip', 'gzip-js', 'lz64'],
    heatmaps: false,
  })
})

t.test('as long as the definitions are not known there are no flags, and the answer says so', async (t) => {
  const ask = await open(t, Promise.resolve(nowhere), null)
  t.match(await ask(), { flags: {}, errorsWhileComputingFlags: true })
  t.match(await ask({ disable_flags: true }), { flags: {}, errorsWhileComputingFlags: false })
})

t.test('a database that does not answer costs no more than the deadline', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const other = openPostgres({ connectionString, log })
  t.teardown(() => other.close())
  const ask = await open(t, Promise.resolve(connectionString))
  t.match(await ask(), { errorsWhileComputingFlags: false, flags: { pro: { enabled: false } } })
  const lock = await other.hold()
  await lock.query('begin')
  await lock.query('lock table person_distinct_id, flag_hash_key_override in access exclusive mode')
  const v = { distinct_id: 'v', $anon_distinct_id: 'a' }
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask(v)))
  for (const answer of answers) {
    t.match(answer, { errorsWhileComputingFlags: true, flags: { everyone: { enabled: true }, pro: failed } })
  }
  t.match(
    await ask(),
    { errorsWhileComputingFlags: true, flags: { pro: { enabled: false, failed: undefined }, kept: failed } },
    'what was read a moment ago is still known',
  )
  await lock.query('rollback')
  lock.release(true)
  t.match(await ask(v), { errorsWhileComputingFlags: false, flags: { pro: { enabled: false } } })
})
