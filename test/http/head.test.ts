// Requests as no friendly client sends them. After each, a normal request on a fresh connection is served.

import t, { type Test } from 'tap'
import { RawClient, request } from '../support/sockets.ts'
import { openWorld, type World } from './world.ts'

const head = (path: string, ...headers: string[]): string =>
  `${[`POST ${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`

async function stillServes(t: Test, world: World): Promise<void> {
  const reply = await request(world.port, 'POST /e', [], 'abc')
  t.equal(reply?.body, '{"status":"Ok","size":3}')
  t.equal(world.server.state().bodyBytes, 0)
}

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

const refusedFramings: [name: string, headers: string[]][] = [
  ['two different lengths', ['Content-Length: 3', 'Content-Length: 5']],
  ['a length and chunks', ['Content-Length: 3', 'Transfer-Encoding: chunked']],
  ['a negative length', ['Content-Length: -3']],
  ['a signed length', ['Content-Length: +3']],
  ['a hexadecimal length', ['Content-Length: 0x3']],
  ['a list of lengths', ['Content-Length: 3, 3']],
  ['a length of 2^64', ['Content-Length: 18446744073709551616']],
  ['an unknown transfer coding', ['Transfer-Encoding: xchunked']],
  ['identity', ['Transfer-Encoding: identity']],
  ['an empty length', ['Content-Length: ']],
  ['a coding before chunked', ['Transfer-Encoding: gzip, chunked']],
]

for (const [name, headers] of refusedFramings) {
  t.test(`${name}: 400, closed, never served`, async (t) => {
    const world = await openWorld()
    t.teardown(() => world.server.closeNow())
    const client = await RawClient.open(world.port)
    client.send(`${head('/e', ...headers)}abcde`)
    t.match(await client.reply(), { status: 400 })
    await client.closed()
    t.equal(world.seen.length, 0)
    await stillServes(t, world)
  })
}

const brokenHeads: [name: string, text: string][] = [
  ['HTTP/1.0', 'GET /e HTTP/1.0\r\n\r\n'],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['bare line feeds', 'GET /e HTTP/1.1\nHost: x\n\n'],
  ['a head beyond every limit', head('/e', `Cookie: ${'c'.repeat(80_000)}`)],
  ['more headers than allowed', head('/e', ...Array.from({ length: 150 }, (_, index) => `X-${index}: 1`))],
  ['a TLS hello', `${'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(600, '\x01')}\r\n\r\n`],
]

for (const [name, text] of brokenHeads) {
  t.test(`${name}: the connection ends and nothing is served`, async (t) => {
    const world = await openWorld()
    t.teardown(() => world.server.closeNow())
    const client = await RawClient.open(world.port)
    client.send(Buffer.from(text, 'latin1'))
    await client.closed()
    t.equal(world.seen.length, 0)
    await stillServes(t, world)
  })
}
