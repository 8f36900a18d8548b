// How large a body may be, as sent and unpacked, and what a larger one is told.

import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { gzipBomb, lz64Bomb } from '../support/bombs.ts'
import { startServer } from '../support/server.ts'
import { single } from './requests.ts'

const server = await startServer(t)
const KiB = 1024
const MiB = 1024 * 1024
const paths = ['/batch/', '/capture/', '/e/', '/i/v0/e/', '/track/', '/engage/']
const plainText = { 'content-type': 'text/plain' }

/** An event followed by blanks up to `size` bytes. */
function padded(distinctId: string, size: number): Buffer {
  const body = Buffer.alloc(size, ' ')
  body.write(JSON.stringify(single(distinctId)))
  return body
}

async function isStored(distinctId: string): Promise<boolean> {
  return (await server.storedEvents({ distinct_id: distinctId })).length === 1
}

t.test('a body over 20 MiB is refused and its connection goes on (case 29)', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const large = padded('too large', 20 * MiB + KiB)
  const ports: (number | undefined)[] = []
  const post = async (path: string, body: Buffer) => {
    const sending = request(`${server.url}${path}`, { method: 'POST', agent })
    sending.end(body)
    // The event of an HTTP response has this one argument.
    const [response] = (await once(sending, 'response')) as [IncomingMessage]
    ports.push((response.socket.address() as AddressInfo).port) // a TCP socket
    const chunks: Buffer[] = await response.toArray()
    return { status: response.statusCode, text: Buffer.concat(chunks).toString() }
  }
  for (const path of paths) {
    const refused = await post(path, large)
    t.equal(refused.status, 413, path)
    t.match(refused.text, /^maximum event size exceeded: .*20 MiB/, path)
    t.equal((await post(path, padded(`after ${path}`, KiB))).status, 200, path)
    t.ok(await isStored(`after ${path}`), path)
  }
  t.equal(new Set(ports).size, 1, 'one connection served all')
  t.notOk(await isStored('too large'))
})

t.test('a body of 4 MiB is taken on every path (case 30)', async (t) => {
  for (const path of paths) {
    t.equal((await server.post(path, padded(`4 MiB ${path}`, 4 * MiB))).status, 200, path)
    t.ok(await isStored(`4 MiB ${path}`), path)
  }
})

t.test('a body of exactly 20 MiB is taken, one byte more is not', async (t) => {
  t.equal((await server.post('/batch/', padded('20 MiB', 20 * MiB))).status, 200)
  t.equal((await server.post('/batch/', padded('20 MiB + 1', 20 * MiB + 1))).status, 413)
  t.ok(await isStored('20 MiB'))
  t.notOk(await isStored('20 MiB + 1'))
})

t.test('a sender far over the limit reads its answer (case 31)', async (t) => {
  const reply = await server.post('/e/', padded('30 MiB', 30 * MiB))
  t.equal(reply.status, 413)
  t.match(reply.text, /^maximum event size exceeded/)
})

t.test('gzip that inflates past 160 MiB is refused quickly (case 11)', async (t) => {
  const bomb = gzipBomb(4096 * MiB)
  const spent = process.cpuUsage()
  const reply = await server.post('/e/', bomb, plainText)
  t.equal(reply.status, 413)
  t.match(reply.text, /^maximum event size exceeded: .*160 MiB/)
  t.ok(process.cpuUsage(spent).user < 3_000_000, 'stops at the limit')
})

t.test('gzip that inflates to exactly the limit is taken, one byte more is not (case 12)', async (t) => {
  const full = gzipSync(padded('full', 160 * MiB), { level: 1 })
  t.equal((await server.post('/e/', full, plainText)).status, 200)
  t.ok(await isStored('full'))
  const over = gzipSync(padded('over', 160 * MiB + 1), { level: 1 })
  t.equal((await server.post('/e/', over, plainText)).status, 413)
  t.notOk(await isStored('over'))
})

t.test('lz64 that unfolds past the limit is refused quickly (case 18)', async (t) => {
  const bomb = lz64Bomb(100_000) // 5 GB
  const spent = process.cpuUsage()
  const reply = await server.post('/e/?compression=lz64', bomb, plainText)
  t.equal(reply.status, 413)
  t.match(reply.text, /^maximum event size exceeded: .*160 MiB/)
  t.ok(process.cpuUsage(spent).user < 3_000_000, 'stops at the limit')
})
