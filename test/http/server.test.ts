import { Agent, request as nodeRequest } from 'node:http'
import t from 'tap'
import { type Route, textReply } from '../../src/http/route.ts'
import { openHttpServer } from '../../src/http/server.ts'
import { RawClient, request } from '../support/sockets.ts'
import { until } from '../support/until.ts'
import { openWorld, route } from './world.ts'

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

t.test('a big body may be moved, and the next one lands where it stood', async (t) => {
  const left: string[] = []
  const move: Route['handle'] = async ({ body, giveBack }) => {
    const moved = structuredClone(body, { transfer: [body.buffer] })
    left.push(Buffer.from(moved.buffer, moved.length, 5).toString())
    giveBack?.(moved.buffer)
    return textReply(200, Buffer.from(moved.subarray(0, 5)).toString())
  }
  const world = await openWorld({
    limits: { bodyBytesHeldMax: 1 << 20, bigBodyBytesMin: 16_000, bigBodiesMax: 1 },
    routes: [route({ path: '/move', handle: move })],
  })
  t.teardown(() => world.server.closeNow())
  for (const [letter, size] of [
    ['a', 60_000],
    ['b', 40_000],
    ['c', 30_000],
  ] as const) {
    const reply = await request(world.port, 'POST /move', [], letter.repeat(size))
    t.match(reply, { status: 200, body: letter.repeat(5) })
  }
  t.same(left.slice(1), ['aaaaa', 'bbbbb'])
  t.equal(world.server.state().bodyBytes, 0)
})
