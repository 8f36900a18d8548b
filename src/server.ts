// The composition root: opens every room in order, connects them, and closes them in reverse.
//
// The server accepts events as soon as the journal is recovered and the projects are known. The stores behind it open
// and catch up in the background. Only the very first start waits for Postgres, to learn of its own first project.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { captureRoutes } from './capture/capture-routes.ts'
import { type DecodePool, openDecodePool } from './capture/decode-pool.ts'
import type { IntakeOptions } from './capture/intake.ts'
import type { Config } from './config.ts'
import { takeDataDir } from './data-dir.ts'
import { type Database, openDatabase } from './database.ts'
import { ServiceError } from './errors.ts'
import { type Events, openEvents } from './events/client.ts'
import { type Exports, openExports } from './exports/exports.ts'
import { type FlagEndpoints, openFlagEndpoints } from './flags/endpoints.ts'
import { greetingOf } from './greeting.ts'
import { type HttpServer, type HttpState, openHttpServer } from './http/server.ts'
import { openJournal } from './journal/client.ts'
import type { Journal } from './journal/journal.ts'
import { type Known, keysFileOf, openKnown } from './known.ts'
import type { Clock } from './lib/clock.ts'
import { decodeThreadCount, duckdbMemoryLimitBytes, duckdbThreadCount } from './machine-share.ts'
import type { Bootstrap } from './management/bootstrap.ts'
import { openCohortCounts } from './management/cohort-counts.ts'
import { type Commands, openCommands } from './management/commands.ts'
import { openProjectDeletions, type ProjectDeletions } from './management/project-deletions.ts'
import { managementRoutes } from './management/routes.ts'
import { type Mirror, openMirror } from './mirror/mirror.ts'
import { type Outside, openOutside } from './outside.ts'
import { docsRoutes } from './pages/docs.ts'
import { joinRoutes } from './pages/join.ts'
import { openPersons, type Persons } from './persons/client.ts'
import { problemsOf } from './problems.ts'
import { releaseAll } from './release-all.ts'
import { releaseApplied } from './retention.ts'
import type { Log } from './telemetry/log.ts'
import { watchLoopDelay } from './telemetry/loop-delay.ts'
import { type MetricSources, openMetrics } from './telemetry/metrics.ts'
import { operatorRoutes } from './telemetry/routes.ts'

export interface Server {
  readonly port: number
  /** What the first start tells its owner, keys included; null on every other start. */
  readonly greeting: string | null
  /** Queues, lag and what is wrong, for the log. */
  diagnosis(): object
  /** Resolves when the server cannot go on and the process should end. */
  readonly failed: Promise<Error>
  /** Answers what is open, loads what is durable, closes everything. */
  close(): Promise<void>
}

export interface ServerOptions {
  readonly clock: Clock
  readonly log: Log
}

/** Open requests get this long to end when the server stops. */
const closeGraceMs = 10_000
/** The very first start gives up when Postgres is not there by then. */
const firstStartMsMax = 60_000
/** A journal record aims at no more than this, however large the request. */
const recordBytesMax = 8 * 1024 * 1024
/** Longest properties of one event, however large a body may be: an event goes into one record of the journal. */
const eventBytesMax = 20 * 1024 * 1024

/** Errors: whatever a room refuses to open with; everything opened before is closed again. */
export async function openServer(config: Config, { clock, log }: ServerOptions): Promise<Server> {
  const releasers: (() => Promise<void>)[] = []
  const close = (): Promise<void> => releaseAll(releasers)
  try {
    const taken = await takeDataDir(config.dataDir)
    releasers.push(() => taken.release())
    const outside = openOutside(config, log)
    releasers.push(() => outside.close())
    const rooms = await openRooms(config, outside, { clock, log }, releasers)
    const http = await openHttp(config, rooms, outside, { clock, log }, releasers)
    releasers.push(() => http.close(closeGraceMs))
    return {
      port: http.port,
      greeting: greetOf(config, rooms, http.port),
      diagnosis: () => diagnosisOf(rooms, http),
      failed: failureOf(rooms),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface Rooms extends Known {
  readonly journal: Journal
  readonly database: Database
  /** Null unless this is the very first start. */
  readonly firstStart: Bootstrap | null
  readonly flags: FlagEndpoints
  readonly events: Events
  readonly persons: Persons
  readonly mirror: Mirror
  readonly commands: Commands
  readonly deletions: ProjectDeletions
  readonly exports: Exports
  readonly pool: DecodePool
}

async function openRooms(
  config: Config,
  outside: Outside,
  { clock, log }: ServerOptions,
  releasers: (() => Promise<void>)[],
): Promise<Rooms> {
  const { dataDir } = config
  const journalDir = join(dataDir, 'journal')
  const quarantineDir = join(dataDir, 'quarantine')
  const journal = await openJournal({
    dir: journalDir,
    quarantineDir,
    keepBytes: config.journalKeepBytes,
    dedupWindowEvents: config.dedupWindowEvents,
    killAt: config.crashAt,
    log: (level, message, fields) => log[level](fields, message),
  })
  releasers.push(() => journal.close())
  const database = openDatabase({ config, epoch: journal.state().epoch, log })
  releasers.push(() => database.close())
  const firstStart = existsSync(keysFileOf(config)) ? null : await untilReady(database)
  const { postgres } = database
  const known = await openKnown({ config, postgres, clock, log }, releasers)
  const { projects } = known
  const events = openEvents({
    dataDir,
    journalDir,
    journal,
    memoryLimitBytes: duckdbMemoryLimitBytes(config),
    threads: duckdbThreadCount(config),
    selectLimits: { msMax: config.queryMsMax, memoryBytesMax: config.queryMemoryBytes },
    killAt: config.crashAt,
    log,
    clock,
  })
  releasers.push(() => events.close())
  const persons = openPersons({
    journalDir,
    quarantineDir,
    journal,
    spikeEventsPerSecond: config.spikeEventsPerSecond,
    connectionString: database.connectionString,
    killAt: config.crashAt,
    log,
    clock,
  })
  const mirror = openMirror({ postgres, events, persons, log, clock })
  // Closed behind the persons: what their last step changed is mirrored too.
  releasers.push(() => mirror.close())
  releasers.push(() => persons.close())
  persons.onApplied(() => projects.usageMayHaveGrown())
  releaseApplied(journal, events, persons)
  const commands = openCommands({ journal, persons, mirror })
  const deletions = openProjectDeletions({ postgres, commands, clock, log })
  releasers.push(() => deletions.close())
  const cohortCounts = openCohortCounts({ postgres, clock, log })
  releasers.push(() => cohortCounts.close())
  database.ready.then(deletions.carryOut, () => {}) // told by failureOf
  database.ready.then(cohortCounts.count, () => {})
  const pool = openDecodePool(decodeThreadCount(config))
  releasers.push(() => pool.close())
  const { connectionString } = database
  const flags = openFlagEndpoints({ ...known, connectionString, persons, clock, log })
  releasers.push(() => flags.close())
  const rooms = { ...outside, journal, postgres, connectionString, store: events, clock, log }
  const exports = openExports({ ...rooms, dataDir, logDays: config.exportLogDays, killAt: config.crashAt })
  releasers.push(() => exports.close())
  const stores = { journal, database, firstStart, ...known, flags, events, persons, mirror }
  return { ...stores, commands, deletions, exports, pool }
}

/** Waits for the database of a server that knows no project yet. */
async function untilReady(database: Database): Promise<Bootstrap> {
  const tooLate = delay(firstStartMsMax, null, { ref: false })
  const ready = await Promise.race([database.ready, tooLate])
  if (ready) return ready
  const detail = `The first start needs Postgres, which is not reachable: ${database.problem()}`
  throw new ServiceError('postgres_unavailable', { detail })
}

async function openHttp(
  config: Config,
  rooms: Rooms,
  outside: Outside,
  { clock, log }: ServerOptions,
  releasers: (() => Promise<void>)[],
): Promise<HttpServer> {
  const { journal, database, projects, definitions, flags, geoip, warnings, events, mirror } = rooms
  const httpState = (): HttpState => http?.state() ?? { openRequests: 0, bodyBytes: 0 }
  const metrics = openMetrics(sourcesOf(rooms, httpState))
  releasers.push(watchLoopDelay(clock, metrics.late))
  const intake: IntakeOptions = {
    journal,
    pool: rooms.pool,
    projects,
    geoip,
    clock,
    limits: {
      decompressedBytesMax: config.decompressedBytesMax,
      eventBytesMax: Math.min(config.bodyBytesMax, eventBytesMax),
      recordBytesMax,
    },
    observer: {
      captured(report) {
        metrics.captured(report)
        flags.captured(report)
        warnings.record(report.projectId, 'drop', report.drops)
        warnings.record(report.projectId, 'warning', report.warnings)
      },
    },
  }
  const http: HttpServer = await openHttpServer({
    host: config.host,
    port: config.port,
    clock,
    log,
    observe: metrics.replied,
    isHttps: config.siteUrl?.startsWith('https:') ?? false,
    routes: [
      ...captureRoutes(intake, config.bodyBytesMax),
      ...flags.routes,
      ...operatorRoutes({ problems: () => problemsOf(rooms), metrics, metricsToken: config.metricsToken }),
      ...docsRoutes(),
      ...joinRoutes(),
      ...managementRoutes({
        postgres: database.postgres,
        events,
        mirror,
        warnings,
        ...outside,
        commands: rooms.commands,
        deletions: rooms.deletions,
        projects,
        definitions,
        geoip,
        siteUrl: config.siteUrl,
        trustedProxies: config.trustedProxies,
        clock,
        log,
      }),
    ],
  })
  return http
}

function sourcesOf(rooms: Rooms, http: () => HttpState): MetricSources {
  const { journal, events, persons, mirror, exports, pool } = rooms
  return {
    journal: () => journal.state(),
    events: () => events.state(),
    persons: () => persons.state(),
    mirror: () => mirror.state(),
    exports: () => exports.state(),
    decodeQueueBytes: () => pool.queuedBytes(),
    openBodyBytes: () => http().bodyBytes,
    openRequests: () => http().openRequests,
  }
}

function greetOf(config: Config, { firstStart }: Rooms, port: number): string | null {
  if (!firstStart?.created || firstStart.values === null) return null
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host
  const url = config.siteUrl ?? `http://${host}:${port}`
  return greetingOf(firstStart.values, url, join(config.dataDir, 'bootstrap.json'))
}

function diagnosisOf(rooms: Rooms, http: HttpServer): object {
  const { journal, events, persons, mirror, exports, pool } = rooms
  return {
    problems: problemsOf(rooms),
    http: http.state(),
    decode_queue_bytes: pool.queuedBytes(),
    journal: journal.state(),
    events: events.state(),
    persons: persons.state(),
    mirror: mirror.state(),
    exports: exports.state(),
    memory: process.memoryUsage(),
  }
}

function failureOf({ journal, database, events, persons }: Rooms): Promise<Error> {
  return new Promise((resolve) => {
    journal.onFailed(resolve)
    events.onFailed(resolve)
    persons.onFailed(resolve)
    // Being unavailable is no failure: openDatabase waits for ever. What it rejects with is final.
    database.ready.catch(resolve)
  })
}
