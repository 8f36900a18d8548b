import t from 'tap'
import { managementRoutes } from '../../src/management/routes.ts'
import { openWorld } from '../api/world.ts'

t.test('serves the operations under the public document of them', async (t) => {
  const world = await openWorld(t)
  for (const path of ['/api/schema/', '/openapi.json']) {
    const reply = await world.get(path, '')
    t.equal(reply.status, 200)
    const paths = Object.keys(JSON.parse(reply.text).paths)
    t.ok(paths.includes('/api/projects/{project_id}/events/'))
    t.ok(paths.includes('/api/projects/{project_id}/ingestion_warnings/'))
    t.ok(paths.includes('/batch/'))
  }
})

t.test('refuses trusted proxies that cannot be read', async (t) => {
  const { postgres, warnings } = await openWorld(t)
  const events = {
    listEvents: async () => ({ events: [], next: null }),
    query: async () => ({ columns: [], rows: [] }),
  }
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const { silentLog: log } = await import('../support/postgres.ts')
  const commands = { carryOut: async () => {} }
  const options = { postgres, events, warnings, commands, siteUrl: null, clock, log }
  t.throws(() => managementRoutes({ ...options, trustedProxies: 'everyone' }), { code: 'config_invalid' })
})
