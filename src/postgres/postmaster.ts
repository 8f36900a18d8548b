// The server process of one data folder, seen from outside: is it there, start it, stop it. Works by its pid file and
// by the process itself, so it does not matter which run of Spate started it.

import { type ChildProcess, spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import { systemClock } from '../lib/clock.ts'
import type { Binaries } from './binaries.ts'
import { dataPath } from './cluster.ts'
import { asUser, type OsUser, plainEnvironment, run } from './run.ts'

/** Settings of the server; they live here and not in its files, so that they always are those of the running Spate. */
const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_directories: '.',
  port: '5432',
  max_connections: '50',
  shared_buffers: '128MB',
  // For persons as well. The journal would repeat a step that a power cut took, but cut into other steps, while DuckDB
  // may have heard of the first ones already (the outbox), and the journal forgets what is applied.
  synchronous_commit: 'on',
  // A session whose client was killed in the middle of a long statement ends, and with it its locks.
  client_connection_check_interval: '1s',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements that fail are reported by whoever sent them: the server's own log holds starts, stops and disasters.
  log_min_messages: 'log',
  log_checkpoints: 'off',
}

const logFile = 'server.log'
const logBytesMax = 1024 * 1024
/** Characters of the log that an error shows. */
const logShownMax = 1000
const pollMs = 10
/** Recovery after a crash is part of a start, and reads at most about a gigabyte of the server's log. */
const startMsMax = 120_000
const stopMsMax = 30_000
const abortMsMax = 5_000

interface PidFile {
  readonly pid: number
  readonly isReady: boolean
}

function readPidFile(dir: string): PidFile | null {
  try {
    const lines = readFileSync(join(dir, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    return Number.isInteger(pid) && pid > 1 ? { pid, isReady: lines[7]?.trim() === 'ready' } : null
  } catch {
    return null // no file: no server
  }
}

/** The pid of the server that runs on `dir`, or null. A pid that now belongs to another program is not taken for it. */
export async function findPostmaster(dir: string): Promise<number | null> {
  const file = readPidFile(dir)
  return file !== null && (await runsOn(file.pid, dir)) ? file.pid : null
}

async function runsOn(pid: number, dir: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const { ok, output } = await run('ps', ['-o', 'command=', '-p', String(pid)], { cwd: '/', user: null })
    return ok && output.includes(dir)
  }
  try {
    // The server never leaves its data folder. A process that has ended and waits to be reaped has no folder.
    const cwd = statSync(`/proc/${pid}/cwd`)
    const data = statSync(dir)
    return cwd.dev === data.dev && cwd.ino === data.ino
  } catch {
    return false // no such process, or not one of ours
  }
}

/**
 * Starts the server in a process group of its own, so that a Ctrl-C meant for Spate does not reach it, and resolves
 * when it accepts connections. No server may be running on `dir`.
 * Errors: postgres_unavailable with the end of the server's log.
 */
export async function startPostmaster(
  dir: string,
  binaries: Binaries,
  user: OsUser | null,
  settings: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  // The server trusts the pid in a file left behind if any process has it by now.
  rmSync(join(dir, 'postmaster.pid'), { force: true })
  const flags = Object.entries({ ...serverSettings, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const log = openLog(dir, user)
  const logStart = fstatSync(log).size
  const child = spawn(join(binaries.folder, 'postgres'), ['-D', dataPath(dir), ...flags], {
    cwd: dir,
    detached: true,
    env: plainEnvironment,
    stdio: ['ignore', log, log],
    ...asUser(user),
  })
  closeSync(log)
  child.unref()
  let ended: string | null = null
  child.once('error', (error) => {
    ended = error.message
  })
  child.once('exit', (code, signal) => {
    ended = `it ended with ${signal ?? code}`
  })
  const deadline = systemClock.monotonicMs() + startMsMax
  while (ended === null && systemClock.monotonicMs() < deadline) {
    const file = readPidFile(dir)
    if (file?.pid === child.pid && file?.isReady) return child
    await delay(pollMs)
  }
  child.kill('SIGQUIT')
  const words = readFileSync(join(dir, logFile)).subarray(logStart).toString().trim().slice(-logShownMax)
  const detail = `PostgreSQL did not start: ${ended ?? `not ready after ${startMsMax} ms`}; ${words}`
  throw new ServiceError('postgres_unavailable', { detail })
}

function openLog(dir: string, user: OsUser | null): number {
  const path = join(dir, logFile)
  const file = openSync(path, 'a', 0o600)
  if (fstatSync(file).size > logBytesMax) ftruncateSync(file)
  if (user !== null) chownSync(path, user.uid, user.gid)
  return file
}

/** Stops the server that runs on `dir`, if there is one, and resolves when it has ended. Sessions are cut. */
export async function stopPostmaster(dir: string): Promise<void> {
  const pid = await findPostmaster(dir)
  if (pid === null) return
  if (await signalled(pid, 'SIGINT', dir, stopMsMax)) return
  // Without a last checkpoint: the next start replays the server's log.
  if (await signalled(pid, 'SIGQUIT', dir, abortMsMax)) return
  await signalled(pid, 'SIGKILL', dir, abortMsMax)
}

/** Sends the signal and waits: true when the server has ended. */
async function signalled(
  pid: number,
  signal: NodeJS.Signals,
  dir: string,
  waitMsMax: number,
): Promise<boolean> {
  try {
    process.kill(pid, signal)
  } catch {
    return true // gone in the meantime
  }
  const deadline = systemClock.monotonicMs() + waitMsMax
  while (systemClock.monotonicMs() < deadline) {
    if (!(await runsOn(pid, dir))) return true
    await delay(pollMs)
  }
  return false
}
