// Requests as no friendly client sends them. After each, a normal request on a fresh connection is served.

import t, { type Test } from 'tap'
import { RawClient, request } from '../support/sockets.ts'
import { until } from '../support/until.ts'
import { bodyBytesMax, openWorld, type World } from './world.ts'

const head = (path: string, ...headers: string[]): string =>
  `${[`POST ${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`

async function stillServes(t: Test, world: World): Promise<void> {
  const reply = await request(world.port, 'POST /e', [], 'abc')
  t.equal(reply?.body, '{"status":"Ok","size":3}')
  t.equal(world.server.state().bodyBytes, 0)
}

t.test('case 29: a body over the limit gets 413 and its connection serves the next request', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(head('/e', `Content-Length: ${bodyBytesMax + 1024}`) + 'x'.repeat(bodyBytesMax + 1024))
  t.match(await client.reply(), {
    status: 413,
    body: 'maximum event size exceeded: the limit of a body is 64 KiB, this one has 66560 bytes',
  })
  client.send(`${head('/e', 'Content-Length: 3')}abc`)
  t.match(await client.reply(), { status: 200 })
  client.destroy()
  await stillServes(t, world)
})

t.test('case 30: a body at the limit is served', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const reply = await request(world.port, 'POST /e', [], 'x'.repeat(bodyBytesMax))
  t.equal(reply?.body, '{"status":"Ok","size":65536}')
})

t.test('case 31: a body half as large again as the limit gets 413, not a reset', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const reply = await request(world.port, 'POST /e', [], 'x'.repeat(bodyBytesMax * 1.5))
  t.equal(reply?.status, 413)
  t.equal(reply?.headers.connection, undefined)
})

t.test('a chunked body over the limit gets 413 and its connection serves the next request', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`
  client.send(`${head('/e', 'Transfer-Encoding: chunked')}${chunk.repeat(3)}0\r\n\r\n`)
  t.match(await client.reply(), { status: 413, body: /this one has more than that$/ })
  client.send(`${head('/e', 'Content-Length: 3')}abc`)
  t.match(await client.reply(), { status: 200 })
  client.destroy()
})

t.test('an announced length past two limits is answered at once and closed', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(head('/e', 'Expect: 100-continue', 'Content-Length: 99999999'))
  const replies = [await client.reply(), await client.reply()]
  t.match(replies, [{ status: 100 }, { status: 413, headers: { connection: 'close' } }])
  await client.closed()
  await stillServes(t, world)
})

t.test('an endless chunked body is cut off after two limits', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(head('/e', 'Transfer-Encoding: chunked'))
  const flood = setInterval(() => client.send(`8000\r\n${'x'.repeat(0x8000)}\r\n`), 1)
  await client.closed()
  clearInterval(flood)
  t.match(world.observed, [/^POST \/e 413 /])
  await stillServes(t, world)
})

t.test('chunked bodies and Expect: 100-continue are understood', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(`${head('/e', 'Transfer-Encoding: chunked')}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`)
  t.match(await client.reply(), { status: 200, body: '{"status":"Ok","size":3}' })
  client.send(head('/e', 'Expect: 100-continue', 'Content-Length: 4'))
  t.match(await client.reply(), { status: 100 })
  client.send('abcd')
  t.match(await client.reply(), { status: 200, body: '{"status":"Ok","size":4}' })
  client.destroy()
})

t.test('a head and a body that arrive byte by byte after the first line are whole', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.socket.setNoDelay(true)
  client.send('POST /e HTTP/1.1\r\n')
  for (const byte of 'Host: x\r\nContent-Length: 5\r\n\r\nabcde') {
    client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.match(await client.reply(), { status: 200 })
  t.equal(Buffer.from(world.seen[0]?.body ?? []).toString(), 'abcde')
  client.destroy()
})

t.test('an empty body is served, also when its head comes in two packets', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.socket.setNoDelay(true)
  client.send(head('/e', 'Content-Length: 0'))
  t.match(await client.reply(), { status: 200, body: '{"status":"Ok","size":0}' })
  client.send('POST /e HTTP/1.1\r\nHost: x\r\n')
  await new Promise((resolve) => setImmediate(resolve))
  client.send('Content-Length: 0\r\n\r\n')
  t.match(await client.reply(), { status: 200, body: '{"status":"Ok","size":0}' })
  client.destroy()
})

t.test('a client that leaves in the middle of its body leaves nothing behind', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(`${head('/e', 'Content-Length: 100')}half of it`)
  await until(() => world.server.state().bodyBytes > 0)
  client.socket.resetAndDestroy()
  await until(() => world.server.state().openRequests === 0)
  t.strictSame(world.observed, ['POST /e 499 10 bytes'])
  t.equal(world.seen.length, 0)
  await stillServes(t, world)
})

t.test('a client that leaves while its request is handled costs nothing but the reply', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(`${head('/slow', 'Content-Length: 3')}abc`)
  await until(() => world.releases.length === 1)
  client.destroy()
  await until(() => world.server.state().openRequests === 0)
  t.equal(world.server.state().bodyBytes, 3, 'the route still has the body')
  t.strictSame(world.gone, ['while it was handled'])
  world.releases[0]?.()
  await until(() => world.server.state().bodyBytes === 0)
  t.strictSame(world.gone, ['while it was handled', 'before it was asked'])
  t.strictSame(world.observed, ['POST /slow 499 3 bytes'])
  await stillServes(t, world)
})

t.test('two requests in one packet are both answered when the first is answered at once', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')
  t.match(await client.reply(), { status: 404 })
  t.match(await client.reply(), { status: 404 })
  client.destroy()
})

t.test('pipelining onto a pending request ends the connection and nothing else', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(`${head('/slow', 'Content-Length: 3')}abc`.repeat(2))
  await client.closed()
  for (const release of world.releases) release()
  await until(() => world.server.state().bodyBytes === 0)
  await stillServes(t, world)
})

t.test('a length shorter than the body serves that much and nothing of the rest', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(`${head('/e', 'Content-Length: 2')}abcdefghij`)
  t.match(await client.reply(), { status: 200, body: '{"status":"Ok","size":2}' })
  client.destroy()
  t.equal(world.seen.length, 1)
  await stillServes(t, world)
})

t.test('an upload that stalls gets 408 and is closed', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(`${head('/e', 'Content-Length: 100')}a`)
  await until(() => world.server.state().bodyBytes > 0)
  world.clock.ms = 10_000
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(world.server.state().openRequests, 1, 'at the limit')
  world.clock.ms = 10_001
  t.match(await client.reply(), {
    status: 408,
    headers: { connection: 'close' },
    body: 'client stopped sending data',
  })
  await client.closed()
  await stillServes(t, world)
})

t.test('an upload that drips past the time for a body gets 408', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const client = await RawClient.open(world.port)
  client.send(`${head('/e', 'Content-Length: 60000')}a`)
  for (let size = 1; size <= 4096; size *= 2) {
    await until(() => world.server.state().bodyBytes === size)
    world.clock.ms += 9000
    client.send('a'.repeat(size))
  }
  await until(() => world.server.state().bodyBytes === 8192)
  world.clock.ms += 9000
  t.match(await client.reply(), { status: 408 })
  client.destroy()
})

t.test(
  'a request nobody answers gets 503 after the time limit, and its late reply goes nowhere',
  async (t) => {
    const world = await openWorld()
    t.teardown(() => world.server.closeNow())
    const client = await RawClient.open(world.port)
    client.send(`${head('/slow', 'Content-Length: 3')}abc`)
    await until(() => world.releases.length === 1)
    world.clock.ms = 30_001
    t.match(await client.reply(), { status: 503, headers: { 'retry-after': '1' } })
    world.releases[0]?.()
    await until(() => world.server.state().bodyBytes === 0)
    client.send(`${head('/e', 'Content-Length: 3')}abc`)
    t.match(await client.reply(), { status: 200 })
    t.strictSame(world.logged, ['no reply within the time limit /slow'])
    client.destroy()
  },
)

t.test('bodies past the budget get 503 and Retry-After while one alone is admitted', async (t) => {
  const world = await openWorld({
    limits: { sweepMs: 5, bodyBytesHeldMax: 10, bigBodyBytesMin: 1 << 20, bigBodiesMax: 1 },
  })
  t.teardown(() => world.server.closeNow())
  const first = await RawClient.open(world.port)
  first.send(`${head('/slow', 'Content-Length: 50')}${'x'.repeat(50)}`)
  await until(() => world.releases.length === 1)
  const second = await RawClient.open(world.port)
  second.send(`${head('/e', 'Content-Length: 3')}abc`)
  t.match(await second.reply(), { status: 503, headers: { 'retry-after': '1' } })
  world.releases[0]?.()
  t.match(await first.reply(), { status: 200 })
  second.send(`${head('/e', 'Content-Length: 3')}abc`)
  t.match(await second.reply(), { status: 200 })
  first.destroy()
  second.destroy()
})

t.test('five hundred liars about their length hold no memory', async (t) => {
  const world = await openWorld()
  t.teardown(() => world.server.closeNow())
  const liars = await Promise.all(Array.from({ length: 500 }, () => RawClient.open(world.port)))
  for (const liar of liars) liar.send(head('/e', `Content-Length: ${bodyBytesMax}`))
  await until(() => world.server.state().openRequests === 500)
  await stillServes(t, world)
  for (const liar of liars) liar.destroy()
  await until(() => world.server.state().openRequests === 0)
})
