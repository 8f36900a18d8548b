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
  const { management } = await openWorld(t)
  t.throws(() => managementRoutes({ ...management, trustedProxies: 'everyone' }), { code: 'config_invalid' })
})
