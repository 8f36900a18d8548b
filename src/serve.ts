// The server process: settings, server, signals, exit code.
//
// SIGTERM, SIGINT and the loss of the restarting parent begin a graceful stop; a second SIGTERM or SIGINT, or the end
// of SHUTDOWN_GRACE_MS, ends the process at once, which loses nothing that was acknowledged. A failed disk or owner
// thread ends it with exit 70. SIGUSR2 writes queues, lag and what is wrong into the log.

import { setTimeout as delay } from 'node:timers/promises'
import { environmentProblem, loadConfig, loadDotEnv } from './config.ts'
import { errorRow, isServiceError } from './errors.ts'
import { tuneHeaps } from './heap.ts'
import { systemClock } from './lib/clock.ts'
import { openServer, type Server } from './server.ts'
import { exitStorageFailed } from './supervisor.ts'
import { type Log, openLog } from './telemetry/log.ts'

/** Serves until told to stop. Returns the exit code. */
export async function serve(): Promise<number> {
  // DuckDB asks for no mode of its own: without this its files are everybody's to read where the data folder is.
  process.umask(0o077)
  tuneHeaps()
  loadDotEnv()
  let log: Log = openLog({ logLevel: 'info', logFormat: 'auto' })
  try {
    const config = loadConfig()
    log = openLog(config)
    process.on('uncaughtException', (err) => {
      log.fatal({ err }, 'a bug in Spate; the process ends and its next start recovers')
      process.exit(exitStorageFailed)
    })
    const stopAsked = stopSignal()
    // The end of a terminal session is no reason to stop.
    process.on('SIGHUP', () => log.info('SIGHUP: nothing to reload, settings are read at the start'))
    const problem = environmentProblem()
    if (problem) log.warn(problem)
    const server = await openServer(config, { clock: systemClock, log })
    process.on('SIGUSR2', () => log.info({ diagnosis: server.diagnosis() }, 'diagnosis'))
    log.info({ port: server.port, host: config.host, data_dir: config.dataDir }, 'listening')
    if (server.greeting) process.stdout.write(server.greeting)
    const failure = await Promise.race([stopAsked, server.failed])
    if (failure === null) return await stop(server, config.shutdownGraceMs, log)
    const exitCode = endAfter(failure, log)
    if (exitCode !== exitStorageFailed) await closeWithin(server, config.shutdownGraceMs)
    return exitWith(exitCode)
  } catch (error) {
    return exitWith(endAfter(error, log))
  }
}

/** Resolves to null when somebody asks the process to stop. */
function stopSignal(): Promise<null> {
  // Listening for the end of the parent shall not keep a stopped server alive.
  process.channel?.unref()
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve(null))
    process.once('SIGINT', () => resolve(null))
    process.once('disconnect', () => resolve(null))
  })
}

async function stop(server: Server, graceMs: number, log: Log): Promise<number> {
  log.info('stopping')
  const overdue = new Promise<'overdue'>((resolve) => {
    setTimeout(() => resolve('overdue'), graceMs).unref()
    process.once('SIGTERM', () => resolve('overdue'))
    process.once('SIGINT', () => resolve('overdue'))
  })
  if ((await Promise.race([server.close(), overdue])) === 'overdue') {
    log.warn('stopped without waiting any longer; the next start catches up from the journal')
    process.exit(0)
  }
  log.info('stopped')
  return 0
}

/** Open sockets and threads would keep the process alive; what they hold is in the journal or was not acknowledged. */
function exitWith(exitCode: number): number {
  setImmediate(() => process.exit(exitCode))
  return exitCode
}

/**
 * Closes a server that has nothing against being closed: its threads end by themselves then. To end the process under a
 * thread that is at work in DuckDB aborts it now and then, and an abort says nothing of the reason.
 */
async function closeWithin(server: Server, graceMs: number): Promise<void> {
  await Promise.race([server.close().catch(() => {}), delay(graceMs)]) // the failure before is the one to report
}

function endAfter(error: unknown, log: Log): number {
  if (!isServiceError(error)) {
    log.fatal({ err: error }, 'the server cannot go on')
    return 1
  }
  log.fatal({ code: error.code, err: error.cause }, error.detail)
  return errorRow(error.code).exitCode ?? 1
}
