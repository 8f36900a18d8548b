import { Agent, request as nodeRequest } from 'node:http'
import t from 'tap'
import { openHttpServer } from '../../src/http/server.ts'
import { RawClient, request } from '../support/sockets.ts'
import { until } from '../support/until.ts'
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

t.test('hands over decoded path parameters and the kept headers', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const headers = [
    'Authorization: Bearer k',
    'X-Forwarded-For: 1.2.3.4',
    'X-Forwarded-For: 5.6.7.8',
    'X-Other: y',
  ]
  await request(world.port, 'GET /api/things/a%20b/parts/%zz/', headers)
  t.strictSame({ ...world.seen[0]?.params }, { thing_id: 'a b', part_id: '%zz' })
  t.equal(world.seen[0]?.path, '/api/things/a%20b/parts/%zz')
  t.strictSame(world.seen[0]?.headers, {
    authorization: 'Bearer k',
    'content-type': '',
    'content-encoding': '',
    host: 'x',
    'if-none-match': '',
    origin: '',
    'user-agent': '',
    'x-forwarded-for': '1.2.3.4, 5.6.7.8',
    http_x_forwarded_for: '',
  })
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
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
  })
  t.equal(reply?.headers['access-control-allow-origin'], undefined)
})

t.test('lets a slow reader have a large reply at its own pace', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const agent = new Agent()
  const size = await new Promise<number>((resolve, reject) => {
    const sent = nodeRequest({ port: world.port, host: '127.0.0.1', path: '/large', agent }, (reply) => {
      let bytes = 0
      reply.on('readable', () => {
        for (let chunk = reply.read(); chunk !== null; chunk = reply.read()) bytes += chunk.length
      })
      reply.on('end', () => resolve(bytes))
    })
    sent.on('error', reject)
    sent.end()
  })
  agent.destroy()
  t.equal(size, 8_000_002)
  t.strictSame(world.observed, ['GET /large 200 0 bytes'])
})

t.test('stops in order: the port closes, open requests end, later ones are told to come back', async (t) => {
  const world = await openWorld()
  const open = await RawClient.open(world.port)
  const idle = await RawClient.open(world.port)
  open.send('POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi')
  await until(() => world.releases.length === 1)
  t.strictSame(world.server.state(), { openRequests: 1, bodyBytes: 2 })
  const closed = world.server.close(60_000)
  idle.send('POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi')
  const late = await idle.reply()
  t.match(late, { status: 503, headers: { connection: 'close', 'retry-after': '1' } })
  world.releases[0]?.()
  t.equal((await open.reply())?.status, 200)
  await closed
  await Promise.all([open.closed(), idle.closed()])
  await t.rejects(RawClient.open(world.port))
})

t.test('closes what is still open when the grace has passed', async () => {
  const world = await openWorld()
  const open = await RawClient.open(world.port)
  open.send('POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi')
  await until(() => world.releases.length === 1)
  await world.server.close(0)
  await open.closed()
})

t.test('names an address that is taken', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const second = openHttpServer({ host: '127.0.0.1', port: world.port, routes: [], log: { error() {} } })
  await t.rejects(second, { code: 'config_invalid' })
})
