// The Postgres that comes with Spate, for who has set no DATABASE_URL: a real server over PostgreSQL's own programs,
// a child of this process, with its data in DATA_DIR/postgres.
//
// A server that an earlier, killed run left behind is stopped before ours is started: it may run with the settings of
// another version, and sessions of the dead process may still hold locks. When the server ends without being asked,
// it is started again; in between, Postgres is simply unavailable.

import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import type { Log } from '../telemetry/log.ts'
import { findBinaries, npmTree } from './binaries.ts'
import { clusterMajor, clusterUser, makeCluster, spateDatabase, spateRole } from './cluster.ts'
import { openPostgres } from './pool.ts'
import { findPostmaster, startPostmaster, stopPostmaster } from './postmaster.ts'
import { makeTenantRole } from './tenant-role.ts'

export interface EmbeddedPostgres {
  /** Reaches the database of Spate from this process and its threads. */
  readonly connectionString: string
  /** Stops the server; resolves when its process has ended. A second call does nothing. */
  stop(): Promise<void>
}

interface EmbeddedOptions {
  /** The server's data folder. Only one process may use it: the caller holds DATA_DIR. */
  readonly dir: string
  readonly log: Log
  /** Settings of the server on top of its own, such as `fsync` in tests. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Longest path of a unix socket, and what the server's socket adds to its folder (`/.s.PGSQL.5432`). */
const socketPathBytesMax = process.platform === 'linux' ? 107 : 103
const socketNameBytes = 14

/** A killed server's sessions need a moment to notice; until then a new one refuses to start. */
const startAttempts = 4
const restartDelayMs = 500
const restartDelayMsMax = 30_000

/**
 * Starts the embedded server, making its data folder first when there is none.
 * Errors: postgres_unavailable (no binaries, no user, or the server's own reason), data_dir_unusable.
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dir, log, settings = {} } = options
  const user = await clusterUser(dir)
  const major = clusterMajor(dir)
  const binaries = await findBinaries({
    user,
    major,
    tree: npmTree(),
    copyFolders: [dirname(dir), tmpdir()],
    log,
  })
  if (major === null) await makeCluster(dir, binaries, user)
  else await stopPostmaster(dir)
  const socket = socketFolder(dir)

  const stopping = new AbortController()
  let restarting: Promise<void> | null = null
  const start = async (): Promise<void> => watch(await startPostmaster(dir, binaries, user, settings))
  const watch = (child: ChildProcess): void => {
    child.once('exit', (code, signal) => {
      if (stopping.signal.aborted) return
      log.error({ code, signal }, 'PostgreSQL ended by itself and is started again')
      restarting = restart(Number.POSITIVE_INFINITY)
    })
  }
  const restart = async (attempts: number): Promise<void> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      try {
        return await start()
      } catch (error) {
        if (attempt >= attempts) throw error
        log.warn({ err: error, attempt }, 'PostgreSQL did not start')
        const pauseMs = Math.min(restartDelayMs * attempt, restartDelayMsMax)
        await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {}) // cut short by stop
      }
    }
  }

  await restart(startAttempts)
  const stop = async (): Promise<void> => {
    if (stopping.signal.aborted) return
    stopping.abort()
    await restarting
    await stopPostmaster(dir)
    socket.close()
  }
  try {
    await grantTenantRole(socket.path, log)
  } catch (error) {
    await stop()
    throw error
  }
  return { connectionString: connectionString(socket.path), stop }
}

/** Where the embedded server of another process can be reached, or null when none runs on `dir`. */
export async function findEmbeddedPostgres(dir: string): Promise<string | null> {
  return (await findPostmaster(dir)) === null ? null : connectionString(dir)
}

function connectionString(socketPath: string): string {
  return `postgresql://${spateRole}@/${spateDatabase}?host=${encodeURIComponent(socketPath)}`
}

/** As the superuser of the cluster, whom Spate needs for nothing else. */
async function grantTenantRole(socketPath: string, log: Log): Promise<void> {
  const connectionString = `postgresql://postgres@/postgres?host=${encodeURIComponent(socketPath)}`
  const postgres = openPostgres({ connectionString, log, connectionsMax: 1 })
  try {
    await makeTenantRole(postgres, spateRole)
  } finally {
    await postgres.close()
  }
}

/** A path to the server's socket that is short enough: an open folder has a short name, however long its path is. */
function socketFolder(dir: string): { path: string; close(): void } {
  if (Buffer.byteLength(dir) + socketNameBytes <= socketPathBytesMax) return { path: dir, close() {} }
  if (process.platform !== 'linux') {
    const detail = `the path ${dir} is too long for a socket (${socketPathBytesMax} bytes); use a shorter DATA_DIR`
    throw new ServiceError('data_dir_unusable', { detail })
  }
  const folder = openSync(dir, 'r')
  return { path: `/proc/${process.pid}/fd/${folder}`, close: () => closeSync(folder) }
}
