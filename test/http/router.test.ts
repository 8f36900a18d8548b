import t from 'tap'
import { RawClient, request } from '../support/sockets.ts'
import { openWorld } from './world.ts'

t.test('serves a path with and without its trailing slash', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  for (const path of ['/e', '/e/', '/e?', '/e/?beacon=1', '/i/v0/e/']) {
    const reply = await request(world.port, `POST ${path}`, [], 'abc')
    t.equal(reply?.body, '{"status":"Ok","size":3}', path)
  }
  t.strictSame(
    world.seen.map((seen) => [seen.method, seen.path, seen.query, seen.peerAddress]),
    [
      ['POST', '/e', '', '127.0.0.1'],
      ['POST', '/e', '', '127.0.0.1'],
      ['POST', '/e', '', '127.0.0.1'],
      ['POST', '/e', 'beacon=1', '127.0.0.1'],
      ['POST', '/i/v0/e', '', '127.0.0.1'],
    ],
  )
})

t.test('answers an unknown path with an empty 404, under /api/ with the envelope', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const stray = await request(world.port, 'POST /nowhere', [], 'abc')
  t.match(stray, { status: 404, body: '' })
  const api = await request(world.port, 'GET /api/nowhere/')
  t.equal(api?.status, 404)
  t.equal(api?.body, '{"type":"invalid_request","code":"not_found","detail":"Not found.","attr":null}')
  t.equal((await request(world.port, 'GET /api/things//parts/1'))?.status, 404)
})

t.test('lets a page read that nothing is there, except under /api/', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const page = ['Origin: https://shop.example']
  const stray = await request(world.port, 'GET /array/phc_x/config', page)
  t.match(stray, { status: 404, headers: { 'access-control-allow-origin': 'https://shop.example' } })
  t.equal((await request(world.port, 'OPTIONS /array/phc_x/config', page))?.status, 200)
  const api = await request(world.port, 'GET /api/nowhere', page)
  t.equal(api?.headers['access-control-allow-origin'], undefined)
  t.equal((await request(world.port, 'OPTIONS /api/nowhere', page))?.status, 404)
})

t.test('answers another method of a known path with 405 and Allow', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const decide = await request(world.port, 'GET /decide/')
  t.match(decide, { status: 405, headers: { allow: 'POST, OPTIONS' } })
  const api = await request(world.port, 'PUT /api/things/1/parts/2', [], '{}')
  t.equal(api?.status, 405)
  t.equal(api?.headers.allow, 'GET, DELETE, HEAD')
  t.equal(
    api?.body,
    '{"type":"invalid_request","code":"method_not_allowed","detail":"Method \\"PUT\\" not allowed.","attr":null}',
  )
})

t.test('answers HEAD like GET without the body', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send('HEAD /e HTTP/1.1\r\nHost: x\r\n\r\n')
  const text = await client.text(/\r\n\r\n$/)
  t.match(text, /^HTTP\/1.1 200 OK\r\n/)
  t.match(text, /\r\nContent-Length: 24\r\n/)
  await client.closed()
  t.strictSame(world.observed, ['HEAD /e 200 0 bytes'])
  t.equal(world.seen[0]?.method, 'GET')
})

t.test(
  'case 33: mirrors a preflight with odd headers, and an error still carries allow-origin',
  async (t) => {
    const world = await openWorld()
    t.teardown(() => world.server.closeNow())
    const preflight = await request(world.port, 'OPTIONS /e/', [
      'Origin: https://shop.example',
      'Access-Control-Request-Method: POST',
      'Access-Control-Request-Headers: x-odd, traceparent',
    ])
    t.equal(preflight?.status, 200)
    t.equal(preflight?.body, '')
    t.match(preflight?.headers, {
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,POST,OPTIONS',
      'access-control-allow-headers': 'x-odd, traceparent',
      vary: 'origin, access-control-request-method, access-control-request-headers',
    })
    const expected: [path: string, status: number, body: RegExp][] = [
      ['/refuse', 401, /^event submitted without an api_key/],
      ['/busy', 503, /^transient error, please retry/],
      ['/broken', 500, /^A server error occurred\.$/],
    ]
    for (const [path, status, body] of expected) {
      const reply = await request(world.port, `POST ${path}`, ['Origin: https://shop.example'], 'abc')
      t.match(reply, { status, body })
      t.equal(reply?.headers['access-control-allow-origin'], 'https://shop.example')
      t.equal(reply?.headers['access-control-allow-credentials'], 'true')
    }
    t.strictSame(world.logged, ['request failed /broken'])
  },
)
