// Opens the DuckDB file. Promise: whatever state a crash left it in, the store opens at a state that its own offsets
// describe, and the journal brings it forward from there.
//
//   the write-ahead log does not replay (a flipped byte, a zeroed tail)
//       → it is moved to the quarantine folder; the store opens at its last checkpoint. The journal still holds
//         everything since, because it is only released up to checkpoints.
//   the file itself is unreadable
//       → moved to the quarantine folder and built again, if the journal reaches back to the beginning; else the
//         start is refused.
//   another process holds it, or it may not be written → the start is refused.
//
// The file is attached to an instance without one of its own: that alone lets its row groups be chosen (pace.ts).
//
// DuckDB's file lock belongs to the process: a second open in the same process is not refused and silently loses
// committed rows. So this looks for an open descriptor first, and the thread that opened the file keeps it for life.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance, version } from '@duckdb/node-api'
import { exportsDirOf, queriesDirOf } from '../data-dir.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import { type Clock, microsFromMs } from '../lib/clock.ts'
import { makeFolder, syncFolder } from '../replace-file.ts'
import { messageOf, shortMessage } from './failure.ts'
import { rowGroupRows } from './pace.ts'
import { readStored, type Stored } from './progress.ts'
import { applySchema } from './schema.ts'

/** The version of DuckDB inside, such as "v1.5.6". */
export const duckdbVersion: () => string = version

export interface StoreOptions {
  readonly dataDir: string
  readonly memoryLimitBytes: number
  readonly threads: number
  /** True when the journal still holds everything since its beginning: an unreadable file can be built again. */
  readonly isJournalComplete: boolean
  readonly clock: Clock
}

export interface Store {
  /** Makes connections that know the file's tables by their names. */
  readonly instance: Pick<DuckDBInstance, 'connect'>
  /** The only connection that writes. */
  readonly writer: DuckDBConnection
  /** What the store said of itself when it was opened. */
  readonly stored: Stored
  /** What had to be done to open it, one sentence each; usually nothing. */
  readonly remedies: readonly string[]
  readonly quarantineDir: string
  /** For files that live as long as a query; empty at first. */
  readonly queriesDir: string
  /** Size of the write-ahead log in bytes. */
  walBytes(): number
  /** Closes the file. No query may be running. */
  close(): void
}

/** What queries put on the disk when memory is short: the journal needs the disk more than they do. */
const spilledBytesMax = 4 * 1024 * 1024 * 1024

const useFile = 'use events'

/** Opens `dataDir`/events.duckdb. Errors: data_dir_unusable, storage_failed. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const path = join(options.dataDir, 'events.duckdb')
  const quarantineDir = join(options.dataDir, 'quarantine')
  const queriesDir = queriesDirOf(options.dataDir)
  makeFolder(quarantineDir)
  assert(!isOpenInThisProcess(path), `${path} is opened once in the life of the process`)
  const remedies: string[] = []
  for (;;) {
    try {
      const opened = await openFile(path, options)
      // DuckDB syncs its files and never their names.
      syncFolder(options.dataDir)
      rmSync(queriesDir, { recursive: true, force: true }) // of a process that was killed
      mkdirSync(queriesDir, { mode: 0o700 })
      return { ...opened, remedies, quarantineDir, queriesDir, walBytes: () => sizeOf(`${path}.wal`) }
    } catch (error) {
      remedies.push(remedy(error, path, quarantineDir, options))
    }
  }
}

/** Clears away what keeps the store from opening and says what it did, or throws what ends the start. */
function remedy(error: unknown, path: string, quarantineDir: string, options: StoreOptions): string {
  if (isServiceError(error)) throw error
  const message = messageOf(error)
  const detail = `${path} cannot be opened: ${shortMessage(error)}`
  if (/Could not set lock|Permission denied|Read-only file system/i.test(message))
    throw new ServiceError('data_dir_unusable', { detail, cause: error })
  if (/No space left|Out of Memory Error|Too many open files/i.test(message))
    throw new ServiceError('storage_failed', { detail, cause: error })
  const wals = walFiles(path)
  const isUnreadable = /Corrupt database file|not a valid DuckDB|Could not read enough bytes/i.test(message)
  if (wals.length > 0 && (/\bWAL\b/.test(message) || !isUnreadable)) {
    const moved = wals.map((wal) => setAside(wal, quarantineDir, options.clock)).join(', ')
    return `the write-ahead log did not replay and was moved to ${moved}: ${shortMessage(error)}`
  }
  if (isUnreadable && options.isJournalComplete) {
    for (const wal of wals) setAside(wal, quarantineDir, options.clock)
    const moved = setAside(path, quarantineDir, options.clock)
    return `the events store was unreadable, was moved to ${moved} and is built again: ${shortMessage(error)}`
  }
  const cure =
    'Remedy: restore it from a backup, together with the journal of that time, or start over with an empty DATA_DIR'
  throw new ServiceError('storage_failed', {
    detail: isUnreadable ? `${detail}. ${cure}` : detail,
    cause: error,
  })
}

async function openFile(path: string, options: StoreOptions) {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(options.threads),
    memory_limit: `${options.memoryLimitBytes}B`,
    temp_directory: `${path}.tmp`,
    max_temp_directory_size: `${spilledBytesMax}B`,
    // The loader checkpoints between its transactions; DuckDB shall not do it inside a COMMIT.
    checkpoint_threshold: '1TB',
    // Row groups that are not full are merged with those behind them at checkpoints, and so written once more: of
    // 100,000 events, where large and small transactions take turns, 4.7 to 6.5 µs of CPU an event as often as DuckDB
    // would, 2.6 once a checkpoint, which still keeps them few where checkpoints come after a few events each.
    max_vacuum_tasks: '1',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  })
  let writer: DuckDBConnection | null = null
  try {
    writer = await instance.connect()
    // Files whose row groups are larger keep them.
    await writer.run(
      `attach ${quoted(path)} as events (row_group_size ${rowGroupRows}, storage_version 'latest')`,
    )
    await writer.run(useFile)
    await applySchema(writer, microsFromMs(options.clock.nowMs()))
    const stored = await readStored(writer)
    // Extensions that are built in load without file access; from here on SQL reaches nothing but this database, and
    // the folders that exports are staged in and Parquet answers are made in. No query of people can name a file
    // (src/query/).
    const folders = [exportsDirOf(options.dataDir), queriesDirOf(options.dataDir)]
    await writer.run(`set global allowed_directories = [${folders.map(quoted).join(', ')}]`)
    await writer.run("set global TimeZone = 'UTC'")
    await writer.run('set enable_external_access = false')
    await writer.run('set lock_configuration = true')
    const connection = writer
    return {
      instance: { connect: () => connectTo(instance) },
      writer: connection,
      stored,
      close: () => {
        connection.closeSync()
        instance.closeSync()
      },
    }
  } catch (error) {
    writer?.closeSync()
    instance.closeSync()
    throw error
  }
}

async function connectTo(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect()
  await connection.run(useFile)
  return connection
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * Moves a file into the quarantine folder and returns its new path. The move lasts before anything takes the file's
 * old name: a log that came back after a power cut would be replayed into a store that it does not belong to.
 */
function setAside(path: string, quarantineDir: string, clock: Clock): string {
  const moved = join(quarantineDir, `${basename(path)}.${clock.nowMs()}`)
  renameSync(path, moved)
  syncFolder(quarantineDir)
  syncFolder(dirname(path))
  return moved
}

/** The write-ahead log and what a checkpoint may have left beside it. */
function walFiles(path: string): string[] {
  const folder = join(path, '..')
  const prefix = `${basename(path)}.wal`
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && sizeOf(join(folder, name)) > 0)
    .map((name) => join(folder, name))
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Looks through the open descriptors of the process. Where the system shows none (macOS), it answers no. */
function isOpenInThisProcess(path: string): boolean {
  if (!existsSync(path) || !existsSync('/proc/self/fd')) return false
  const real = realpathSync(path)
  return readdirSync('/proc/self/fd').some((descriptor) => linkTarget(`/proc/self/fd/${descriptor}`) === real)
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    // The descriptor that listed the folder is closed by now.
    return null
  }
}
