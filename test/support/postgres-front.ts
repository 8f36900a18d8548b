// A Postgres over TCP on loopback, for tests and the bench, which call it as a server that is somewhere else: with TLS,
// without, or with silence after so many bytes. The server itself listens on a socket in its folder.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { certificate, privateKey } from './smtp.ts'

export interface PostgresFront {
  readonly port: number
  /** Connections so far. */
  connections(): number
  /** Hands nothing on any more, in either direction, once so many bytes have come from a client. */
  silentAfter: number
  /** What a client gets instead of the server: an error with this SQLSTATE. */
  refusal: string | null
}

/** SSLRequest of the protocol: its length, and a version that is none. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

type Tls = boolean | { readonly cert: string; readonly key: string }

/** Starts a front of the server of `connectionString`; it ends with the test. */
export async function startPostgresFront(
  t: Test,
  connectionString: string,
  tls: Tls = false,
): Promise<PostgresFront> {
  const front = await openPostgresFront(connectionString, tls)
  t.teardown(() => front.close())
  return front
}

/** Starts a front of the server of `connectionString`. */
export async function openPostgresFront(
  connectionString: string,
  tls: Tls = false,
): Promise<PostgresFront & { close(): void }> {
  const folder = new URL(connectionString.replace('@/', '@unused/')).searchParams.get('host')
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((client) => {
    connections++
    sockets.add(client)
    client.on('error', () => {}) // clients may go as they like
    client.once('data', (first: Buffer) => {
      if (!first.equals(tlsRequest)) return bridge(client, first)
      client.write(tls === false ? 'N' : 'S')
      if (tls === false) return client.once('data', (next: Buffer) => bridge(client, next))
      const shown = tls === true ? { cert: certificate, key: privateKey } : tls
      const secure = new TLSSocket(client, { isServer: true, ...shown })
      secure.on('error', () => {}) // certificates are refused that way
      secure.once('data', (next: Buffer) => bridge(secure, next))
    })
  })
  const bridge = (client: Socket, first: Buffer): void => {
    if (front.refusal !== null) {
      client.end(errorMessage(front.refusal))
      return
    }
    const onward = connect({ path: `${folder}/.s.PGSQL.5432` })
    sockets.add(onward)
    onward.on('error', () => client.destroy())
    client.on('close', () => onward.destroy())
    onward.on('close', () => client.destroy())
    let received = first.length
    onward.write(first)
    client.on('data', (piece: Buffer) => {
      received += piece.length
      if (received <= front.silentAfter) onward.write(piece)
    })
    onward.on('data', (piece: Buffer) => {
      if (received <= front.silentAfter) client.write(piece)
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on TCP
  const front = {
    port,
    connections: () => connections,
    silentAfter: Number.POSITIVE_INFINITY,
    refusal: null as string | null,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return front
}

function errorMessage(state: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${state}\0Mthe password "open sesame" of row 7\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
