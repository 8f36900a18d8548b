import t from 'tap'
import { request } from '../support/sockets.ts'
import { openWorld } from './world.ts'

t.test('sends Retry-After with errors that may pass', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  t.equal((await request(world.port, 'POST /busy', [], 'a'))?.headers['retry-after'], '7')
  t.equal((await request(world.port, 'POST /refuse', [], 'a'))?.headers['retry-after'], undefined)
})

t.test('protects management replies and gives them no CORS headers', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const reply = await request(world.port, 'GET /api/things/@current', ['Origin: https://shop.example'])
  t.match(reply?.headers, {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
  t.equal(reply?.headers['access-control-allow-origin'], undefined)
  t.equal(reply?.headers['strict-transport-security'], undefined)
})

t.test('keeps browsers to https where people come by it, also with an error', async (t) => {
  const world = await openWorld({ isHttps: true })
  t.teardown(() => world.server.closeNow())
  for (const path of ['/api/things/@current', '/api/nowhere']) {
    const reply = await request(world.port, `GET ${path}`)
    t.equal(reply?.headers['strict-transport-security'], 'max-age=31536000', path)
  }
})
