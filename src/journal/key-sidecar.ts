// The sidecar of a sealed segment, `<base>.keys`: the dedup keys its events added to the window, so that a restart
// reloads the window without reading the segments.
//
//    0  8 bytes  magic "SPATEKEY"
//    8  u64      base position of the segment
//   16  u32      keys that the segment added to the window
//   20  u32      keys stored here: the newest ones, all of them unless the window is smaller
//   24  u32      0
//   28  u32      crc32 of bytes 0…27 and the keys
//   32  8 bytes a key, in the order of the journal
//
// A sidecar is synced only before its segment is deleted: until then one that is missing or damaged is made again from
// its segment. It outlives its segment until the window has moved past its keys.

import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Disk, isMissing, isShortage, writeAll } from './disk.ts'
import type { Position } from './journal.ts'
import type { LaneOptions } from './lane-options.ts'
import { checksumOn } from './record.ts'
import { baseName, readSegmentHeader, segmentHeaderBytes, segmentPath } from './segment.ts'
import { SegmentWalker } from './segment-walker.ts'

const magic = Buffer.from('SPATEKEY', 'latin1')
const headerBytes = 32
const rebuildWindowBytes = 4 * 1024 * 1024
const writeBytesMax = 8 * 1024 * 1024

export function sidecarPath(dir: string, base: number): string {
  return join(dir, `${baseName(base)}.keys`)
}

/**
 * Writes the sidecar of the segment at `base`; `keys` are the newest of the `total` keys it added. False when the disk
 * has no room for it: its segment has to stay until there is some.
 */
export function tryWriteSidecar(
  disk: Disk,
  { dir, log }: LaneOptions,
  base: Position,
  total: number,
  keys: Uint32Array,
): boolean {
  try {
    writeSidecar(disk, dir, base, total, keys)
    return true
  } catch (cause) {
    if (!isShortage(cause)) throw cause
    log('warn', 'journal: no room for a sidecar', { dir, base })
    return false
  }
}

function writeSidecar(disk: Disk, dir: string, base: Position, total: number, keys: Uint32Array): void {
  const header = new Uint8Array(headerBytes)
  const view = new DataView(header.buffer)
  const body = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength)
  header.set(magic)
  view.setBigUint64(8, BigInt(base), true)
  view.setUint32(16, total, true)
  view.setUint32(20, keys.length / 2, true)
  view.setUint32(28, checksumOn(body, crc32(header.subarray(0, 28))), true)
  const path = sidecarPath(dir, base)
  const fd = disk.create(`${path}.tmp`)
  try {
    writeAll(disk, fd, [header, body], 0, writeBytesMax, () => {})
  } finally {
    disk.close(fd)
  }
  disk.rename(`${path}.tmp`, path)
}

/** Reads a sidecar; null when it is missing, damaged, or holds too few keys for a window of `keysMax`. */
export function readSidecar(disk: Disk, dir: string, base: Position, keysMax: number): Uint32Array | null {
  const bytes = readWhole(disk, sidecarPath(dir, base))
  if (bytes === null || bytes.byteLength < headerBytes) return null
  const view = new DataView(bytes.buffer)
  if (Buffer.compare(bytes.subarray(0, 8), magic) !== 0) return null
  if (view.getBigUint64(8, true) !== BigInt(base)) return null
  const total = view.getUint32(16, true)
  const stored = view.getUint32(20, true)
  if (bytes.byteLength !== headerBytes + 8 * stored) return null
  if (checksumOn(bytes.subarray(headerBytes), crc32(bytes.subarray(0, 28))) !== view.getUint32(28, true))
    return null
  if (stored < total && stored < keysMax) return null
  return new Uint32Array(bytes.buffer, headerBytes, 2 * stored)
}

function readWhole(disk: Disk, path: string): Uint8Array<ArrayBuffer> | null {
  let fd: number
  try {
    fd = disk.open(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
  try {
    const bytes = new Uint8Array(disk.sizeOf(fd))
    return disk.read(fd, bytes, 0) === bytes.byteLength ? bytes : null
  } finally {
    disk.close(fd)
  }
}

/** Collects a segment's keys from the segment itself; those in damaged stretches are lost. */
export function keysOfSegment(disk: Disk, dir: string, base: Position): Uint32Array {
  const fd = disk.open(segmentPath(dir, base))
  try {
    const header = readSegmentHeader(disk, fd)
    if (header === null) return new Uint32Array(0)
    const limit = base + Math.max(0, disk.sizeOf(fd) - segmentHeaderBytes)
    const walker = new SegmentWalker(disk, fd, header, base, limit, rebuildWindowBytes)
    const keys: number[] = []
    for (let step = walker.next(); step.kind !== 'end'; step = walker.next()) {
      if (step.kind !== 'frame' || step.frame.kind === 'seal') continue
      eachNewKey(step.frame.dedupKeys, step.frame.duplicates, (low, high) => keys.push(low, high))
    }
    return Uint32Array.from(keys)
  } finally {
    disk.close(fd)
  }
}

/** Calls `add` for every key that was new to the window when its record was appended. */
export function eachNewKey(
  keys: Uint32Array | null,
  duplicates: Uint8Array | null,
  add: (low: number, high: number) => void,
): void {
  if (keys === null) return
  for (let event = 0; 2 * event < keys.length; event++) {
    const low = keys[2 * event]!
    const high = keys[2 * event + 1]!
    if (low === 0 && high === 0) continue
    if (duplicates !== null && (duplicates[event >>> 3]! >>> (event & 7)) & 1) continue
    add(low, high)
  }
}
