// The process that keeps the Postgres of one test run: `node postgres-keeper.js <pid of the run>`.
//
// It answers on an abstract socket named after the run, which only one keeper can hold, and tells whoever connects how
// to reach the server, whose database `spate` has all that a server of Spate makes there and serves as template. It
// watches the run's process, and when that has ended, however it ended, stops the server, removes its folder and ends
// too.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openJobs } from '../../src/exports/jobs.ts'
import { openEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { keeperSocket } from './postgres.ts'
import { isRunning } from './process.ts'

const runPid = Number(process.argv[2])
const log = openLog({ logLevel: 'silent', logFormat: 'json' })
const folder = mkdtempSync(join(tmpdir(), 'spate-test-'))
const releasers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]

const server = createServer((socket) => {
  socket.on('error', () => {}) // whoever asked is gone
  void opened.then((answer) => socket.end(JSON.stringify(answer)))
})
server.once('error', () => release()) // another keeper was faster
const listening = new Promise<void>((resolve) => server.listen({ path: keeperSocket(runPid) }, resolve))
const opened = listening.then(open).catch((error: unknown) => ({ error: String(error) }))
await opened
while (isRunning(runPid)) await delay(100)
await release()

async function open(): Promise<{ connectionString: string }> {
  // Nothing here has to survive a power cut, and the servers of several files are connected at once.
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '200',
  }
  const embedded = await openEmbeddedPostgres({ dir: join(folder, 'postgres'), log, settings })
  releasers.push(() => embedded.stop())
  const postgres = openPostgres({ connectionString: embedded.connectionString, log })
  await migrate({ postgres, log })
  const { connectionString } = embedded
  const jobs = { connectionString, log, concurrency: 1, pollMs: 60_000, work: async () => {} }
  await (await openJobs(postgres, jobs)).close()
  await postgres.close()
  return { connectionString }
}

async function release(): Promise<never> {
  for (const undo of releasers.reverse()) await undo()
  process.exit()
}
