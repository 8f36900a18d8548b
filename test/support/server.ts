// A whole server for a test, reached over real HTTP: in this process under a clock that stands still, or as a process
// of its own. Each has a database and a data folder of its own and is gone when the test ends.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { loadConfig } from '../../src/config.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { openServer, type Server } from '../../src/server.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { connectTo, type TestServer, testPersonalApiKey, testProjectApiKey } from './client.ts'
import { freshDatabase } from './postgres.ts'
import { startSpate } from './spate-process.ts'
import { until } from './until.ts'

/** 2024-05-01T12:00:00Z: the time it is in a server under test. */
const testNowMs = 1_714_564_800_000

export interface ServerOptions {
  /** When it is; null: the real time. */
  readonly nowMs?: number | null
  /** A clock that the test moves, in the place of `nowMs`. */
  readonly clock?: Clock
  /** Settings by environment name. */
  readonly env?: Readonly<Record<string, string>>
}

/** A server in this process. */
export interface LocalServer extends TestServer {
  readonly databaseUrl: string
}

/** A server in a process of its own. */
export interface ServerProcess extends TestServer {
  /** Where it stores everything; readable by others once it has stopped. */
  readonly dataDir: string
  /** Highest resident size of the process so far, bytes. */
  peakResidentBytes(): number
  isRunning(): boolean
  /** Ends the process the way an operator does and returns its exit code. */
  stop(): Promise<number | null>
}

/** Starts a server in this process; it ends with the test. */
export async function startServer(t: Test, options: ServerOptions = {}): Promise<LocalServer> {
  const world = await makeWorld(t, options.env)
  const config = loadConfig(world)
  const clock =
    options.clock ?? (options.nowMs === null ? systemClock : standingClock(options.nowMs ?? testNowMs))
  const server = await openServer(config, { clock, log: openLog(config) })
  t.teardown(() => server.close())
  const client = connectTo(server.port, () => hasNoLag(server))
  return { ...(await ready(client)), databaseUrl: world.DATABASE_URL }
}

/** Starts a server as a process of its own; it ends with the test. Its time is the real one. */
export async function startServerProcess(
  t: Test,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const world = await makeWorld(t, { ...env, LOG_LEVEL: 'info' })
  const { child, logged, ended } = startSpate(t, world)
  const { port } = await logged('listening')
  const server = await ready(connectTo(Number(port)))
  return {
    ...server,
    dataDir: world.DATA_DIR,
    peakResidentBytes: () => peakResidentBytes(child.pid!), // a process that listens was spawned
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      child.kill('SIGTERM')
      return (await ended).code
    },
  }
}

/** A server accepts before its stores are open; a test wants to read as well. */
async function ready(server: TestServer): Promise<TestServer> {
  await until(async () => /"status":"ok"/.test((await server.get('/_readyz')).text))
  return server
}

async function makeWorld(t: Test, env: Readonly<Record<string, string>> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'spate-test-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const { connectionString } = await freshDatabase(t)
  return {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DATABASE_URL: connectionString,
    LOG_LEVEL: 'error',
    LOG_FORMAT: 'json',
    BOOTSTRAP_PROJECT_API_KEY: testProjectApiKey,
    BOOTSTRAP_PERSONAL_API_KEY: testPersonalApiKey,
    ...env,
  }
}

/** What connectTo reads in the metrics, without the work of writing and reading them every few milliseconds. */
function hasNoLag(server: Server): boolean {
  // The states that diagnosisOf in server.ts puts there.
  const { events, persons, mirror } = server.diagnosis() as Record<'events' | 'persons', Lagging> & Mirrored
  const lags = [events, persons].flatMap(({ lagBytes }) => Object.values(lagBytes))
  return lags.length === 4 && lags.every((bytes) => bytes === 0) && mirror.waiting === 0
}

function standingClock(nowMs: number): Clock {
  return { nowMs: () => nowMs, monotonicMs: systemClock.monotonicMs }
}

interface Lagging {
  readonly lagBytes: Readonly<Record<string, number>>
}

interface Mirrored {
  readonly mirror: { readonly waiting: number }
}

function peakResidentBytes(pid: number): number {
  const kiB = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kiB) * 1024
}
