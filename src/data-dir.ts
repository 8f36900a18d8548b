// The data folder belongs to one process. The first act of a start, before any file in it is read, is to take it: a
// listening abstract unix socket named after the folder's inode. It vanishes with the process, however that ends, so
// no stale lock is ever left behind, and two paths to one folder are one lock.

import { rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ServiceError } from './errors.ts'
import { makeFolder } from './replace-file.ts'

export interface DataDir {
  readonly path: string
  release(): Promise<void>
}

/**
 * Creates the folder (0700) when it is missing and takes it for this process. `abstract` says whether the system has
 * abstract sockets (Linux); elsewhere the lock is a socket file that is taken over when nobody answers on it.
 * Errors: data_dir_unusable when another process holds it or it cannot be written.
 */
export async function takeDataDir(path: string, abstract = process.platform === 'linux'): Promise<DataDir> {
  const identity = makeDir(path)
  const name = abstract ? `\0spate-${identity}` : join(tmpdir(), `spate-${identity}.lock`)
  try {
    if (!abstract && !(await answers(name))) rmSync(name, { force: true })
    const server = await listen(name)
    return {
      path,
      release: () => new Promise((resolve) => server.close(() => resolve())),
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code // node's net only throws errors of this shape
    const detail =
      code === 'EADDRINUSE'
        ? `the data folder ${path} is in use by another Spate process; stop that one, or set DATA_DIR`
        : `the data folder ${path} cannot be locked (${code})`
    throw new ServiceError('data_dir_unusable', { detail, cause })
  }
}

/** Where rows on their way out are staged, as an absolute path: the events store writes there and nowhere else. */
export function exportsDirOf(path: string): string {
  return resolve(path, 'exports')
}

/** Where the events store writes a file that a query is answered with, until it is read, as an absolute path. */
export function queriesDirOf(path: string): string {
  return resolve(path, 'queries')
}

function listen(name: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  server.unref()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: name }, () => resolve(server))
  })
}

function answers(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(name)
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => socket.destroy())
  })
}

/** Makes the folder and names it by device and inode. */
function makeDir(path: string): string {
  try {
    makeFolder(path)
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}-${ino}`
  } catch (cause) {
    const detail = `the data folder ${path} cannot be created: ${cause instanceof Error ? cause.message : cause}`
    throw new ServiceError('data_dir_unusable', { detail, cause })
  }
}
