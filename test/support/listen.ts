// A server of a test's own on loopback.

import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Lets `server` listen until the test ends, which closes what is connected to it. Returns its port. */
export async function listenFor(t: Pick<Test, 'teardown'>, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  return port
}
