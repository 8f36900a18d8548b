// Damaged stretches of acknowledged data, set aside as they are: `journal-<lane>-<position>-<end>.bin` in the
// quarantine folder. The journal itself keeps its bytes; copying the same stretch again changes nothing.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Disk, isShortage, writeAll } from './disk.ts'
import type { Lane, Position } from './journal.ts'
import type { Log } from './lane-options.ts'
import { baseName, fileOffset } from './segment.ts'

const copyBytes = 1024 * 1024

export interface Stretch {
  readonly lane: Lane
  readonly position: Position
  readonly end: Position
}

export interface QuarantineOptions {
  readonly quarantineDir: string
  readonly log: Log
}

/**
 * Copies what an open segment file holds of a damaged stretch, unless that was done before; `base` is the segment's.
 * Without room for the copy the stretch stays in its segment only.
 */
export function quarantine(
  disk: Disk,
  { quarantineDir, log }: QuarantineOptions,
  stretch: Stretch,
  fd: number,
  base: Position,
): void {
  const name = `journal-${stretch.lane}-${baseName(stretch.position)}-${baseName(stretch.end)}.bin`
  disk.makeDir(quarantineDir)
  if (disk.list(quarantineDir).includes(name)) return
  log('error', 'journal: damaged data, set aside', { ...stretch, file: name })
  const path = join(quarantineDir, name)
  // Two readers may come upon the same stretch at once.
  const temporary = `${path}.${randomUUID()}.tmp`
  const copy = disk.create(temporary)
  try {
    const start = fileOffset(base, stretch.position)
    copyBytesOf(disk, fd, start, copy, 0, stretch.end - stretch.position)
    disk.fdatasync(copy)
    disk.rename(temporary, path)
    disk.syncDir(quarantineDir)
  } catch (error) {
    if (!isShortage(error)) throw error
    log('error', 'journal: no room to set damaged data aside', { ...stretch })
    disk.unlink(temporary)
  } finally {
    disk.close(copy)
  }
}

/** Bytes of all stretches of `lane` that were set aside. */
export function quarantinedBytes(disk: Disk, dir: string, lane: Lane): number {
  disk.makeDir(dir)
  let bytes = 0
  for (const name of disk.list(dir)) {
    const match = /^journal-(\w+)-(\d{20})-(\d{20})\.bin$/.exec(name)
    if (match?.[1] === lane) bytes += Number(match[3]) - Number(match[2])
  }
  return bytes
}

/** Copies up to `size` bytes between open files, fewer when the source ends before. */
export function copyBytesOf(
  disk: Disk,
  from: number,
  fromOffset: number,
  to: number,
  toOffset: number,
  size: number,
): void {
  const buffer = new Uint8Array(copyBytes)
  for (let done = 0; done < size; ) {
    const count = disk.read(from, buffer.subarray(0, Math.min(copyBytes, size - done)), fromOffset + done)
    if (count === 0) return
    writeAll(disk, to, [buffer.subarray(0, count)], toOffset + done, copyBytes, () => {})
    done += count
  }
}
