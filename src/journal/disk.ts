// Every disk call of a journal lane. The real disk is node:fs, synchronous: a lane's thread does nothing but wait for
// its disk. Tests put a simulated disk here that loses what was not synced, tears writes and fails on command.

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statfsSync,
  unlinkSync,
  writevSync,
} from 'node:fs'
import { makeFolder, syncFolder } from '../replace-file.ts'

export interface Disk {
  /** Opens a file to read it. */
  open(path: string): number
  /** Creates an empty file to read and write, replacing one of that name. */
  create(path: string): number
  close(fd: number): void
  sizeOf(fd: number): number
  /** Reads into `target` from byte `offset` of the file; returns how many bytes came. */
  read(fd: number, target: Uint8Array, offset: number): number
  /** Writes at byte `offset` of the file; returns how many bytes went, which may be fewer than given. */
  writev(fd: number, buffers: readonly Uint8Array[], offset: number): number
  fdatasync(fd: number): void
  ftruncate(fd: number, size: number): void
  /** Replaces `to` in one step. Lasting only after `syncDir`. */
  rename(from: string, to: string): void
  unlink(path: string): void
  /** Names in a folder, in no order. */
  list(dir: string): string[]
  /** Creates a folder and its parents where they are missing; they last. */
  makeDir(dir: string): void
  /** Makes the names in a folder last. */
  syncDir(dir: string): void
  /** Free bytes of the file system that holds `dir`. */
  freeBytes(dir: string): number
}

export const nodeDisk: Disk = {
  open: (path) => openSync(path, constants.O_RDONLY),
  create: (path) => openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600),
  close: closeSync,
  sizeOf: (fd) => fstatSync(fd).size,
  read: (fd, target, offset) => {
    let count = 0
    while (count < target.byteLength) {
      const came = readSync(fd, target, count, target.byteLength - count, offset + count)
      if (came === 0) break
      count += came
    }
    return count
  },
  writev: (fd, buffers, offset) => writevSync(fd, buffers, offset),
  fdatasync: fdatasyncSync,
  ftruncate: ftruncateSync,
  rename: renameSync,
  unlink: unlinkSync,
  list: (dir) => readdirSync(dir),
  makeDir: makeFolder,
  syncDir: syncFolder,
  freeBytes: (dir) => {
    const { bavail, bsize } = statfsSync(dir)
    return bavail * bsize
  },
}

/**
 * Writes all of `buffers` from byte `offset` on, however many calls it takes, at most `bytesMax` bytes a call.
 * `afterWrite` is called after every call, before the next: the place to sync.
 */
export function writeAll(
  disk: Disk,
  fd: number,
  buffers: readonly Uint8Array[],
  offset: number,
  bytesMax: number,
  afterWrite: () => void,
): number {
  let index = 0
  let skip = 0
  let at = offset
  while (index < buffers.length) {
    const slice = takeSlice(buffers, index, skip, bytesMax)
    const written = disk.writev(fd, slice, at)
    if (written === 0) throw Object.assign(new Error('writev wrote nothing'), { code: 'EIO' })
    at += written
    skip += written
    while (index < buffers.length && skip >= buffers[index]!.byteLength) skip -= buffers[index++]!.byteLength
    afterWrite()
  }
  return at - offset
}

/** Linux takes up to 1024 buffers a call; half of that leaves room. */
const buffersPerWrite = 512

function takeSlice(
  buffers: readonly Uint8Array[],
  from: number,
  skip: number,
  bytesMax: number,
): Uint8Array[] {
  const slice: Uint8Array[] = []
  let bytes = 0
  for (let i = from; i < buffers.length && slice.length < buffersPerWrite && bytes < bytesMax; i++) {
    const start = i === from ? skip : 0
    const size = Math.min(buffers[i]!.byteLength - start, bytesMax - bytes)
    slice.push(buffers[i]!.subarray(start, start + size))
    bytes += size
  }
  return slice
}

/** What a machine can be short of and have again later: room, quota, open files, memory. */
const shortages = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM'])

/** True for a shortage in a call that is not a sync: nothing but the call itself is lost, and it may be made again. */
export function isShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException // both are undefined on an error of another kind
  return shortages.has(code ?? '') && syscall !== 'fdatasync' && syscall !== 'fsync'
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT' // undefined elsewhere
}
