// The server itself among its peers, on the same terms.

import { join } from 'node:path'
import { cpuSeconds } from './cpu.ts'
import { readEventsFile } from './events-file.ts'
import type { OpenPeer } from './peer.ts'
import { sentinelEvent, waitUntilSettled } from './sentinel.ts'
import { killEmbeddedPostgres, ServerProcess } from './server-process.ts'

const settleMsMax = 300_000
const pollMs = 50

export const openSpate: OpenPeer = async (folder, core, { capture }) => {
  const server = new ServerProcess({
    dataDir: join(folder, 'data'),
    logPath: join(folder, 'server.log'),
    core,
  })
  const close = async (): Promise<void> => {
    await server.kill()
    await killEmbeddedPostgres(server.dataDir)
  }
  try {
    await server.accepting()
  } catch (error) {
    await close() // nobody else knows of it
    throw error
  }
  return {
    name: 'Spate',
    ack: 'in the journal and on disk (fsync); events and persons follow',
    port: server.port,
    bytesOf: (number) => capture.bytesOf(number),
    cpuSeconds: () => {
      const { server: own, postgres } = cpuSeconds(server)
      return own + postgres
    },
    settle: () => waitUntilSettled(server, settleMsMax, pollMs),
    count: async () => {
      await server.stop()
      return await countEvents(server.dataDir)
    },
    close,
  }
}

async function countEvents(dataDir: string): Promise<{ events: number; distinctEvents: number }> {
  return await readEventsFile(dataDir, async (connection) => {
    const read = await connection.runAndReadAll(
      'select count(*), count(distinct uuid) from event where event != $sentinel',
      { sentinel: sentinelEvent },
    )
    const [events, distinctEvents] = read.getRows()[0]!.map(Number)
    return { events: events!, distinctEvents: distinctEvents! } // the query has two columns
  })
}
