// A segment: one file of a lane, `<base position, 20 digits>.seg`, a header of 64 bytes followed by frames
// (record.ts). The byte at position p of the lane is byte 64 + p − base of its file. Segments of a lane follow each
// other without a hole; every segment but the last ends in a seal.
//
// Header (little endian):
//
//    0  8 bytes   magic "SPATEJNL"
//    8  u16       format version, 3; what frames of versions 1 and 2, which are read as well, leave out: record.ts
//   10  u16       header bytes, 64
//   12  u32       0
//   16  16 bytes  epoch: the lineage this segment belongs to
//   32  u64       base position
//   40  u32       salt, random: seeds the checksum of every frame, so that stale bytes never look valid
//   44  u32       0
//   48  f64       created, epoch ms
//   56  u32       0
//   60  u32       crc32 of bytes 0…59
//
// A segment comes to be under a temporary name and is synced, with its folder, before the first record: a file with
// the name of a segment has a whole header, whatever crashed.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { ServiceError } from '../errors.ts'
import { type Disk, writeAll } from './disk.ts'
import type { Position } from './journal.ts'
import { checkFrame, frameHeaderBytes, kindCodes } from './record.ts'

export const segmentHeaderBytes = 64
const formatVersion = 3
const formatVersionOldest = 1
const magic = Buffer.from('SPATEJNL', 'latin1')

export interface SegmentHeader {
  /** A uuid in its printed form. */
  readonly epoch: string
  readonly base: Position
  readonly salt: number
  readonly createdMs: number
}

/** A header for a segment that starts at `base`. */
export function newSegmentHeader(epoch: string, base: Position, createdMs: number): SegmentHeader {
  return { epoch, base, salt: randomBytes(4).readUInt32LE(), createdMs }
}

export function encodeSegmentHeader(header: SegmentHeader): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(segmentHeaderBytes)
  const view = new DataView(bytes.buffer)
  bytes.set(magic)
  view.setUint16(8, formatVersion, true)
  view.setUint16(10, segmentHeaderBytes, true)
  bytes.set(Buffer.from(header.epoch.replaceAll('-', ''), 'hex'), 16)
  view.setBigUint64(32, BigInt(header.base), true)
  view.setUint32(40, header.salt, true)
  view.setFloat64(48, header.createdMs, true)
  view.setUint32(60, crc32(bytes.subarray(0, 60)), true)
  return bytes
}

/**
 * Reads a header; null when it is damaged.
 * Errors: data_dir_unusable for a format version this build does not know.
 */
export function parseSegmentHeader(bytes: Uint8Array): SegmentHeader | null {
  if (bytes.byteLength < segmentHeaderBytes) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, segmentHeaderBytes)
  if (Buffer.compare(bytes.subarray(0, 8), magic) !== 0) return null
  if (crc32(bytes.subarray(0, 60)) !== view.getUint32(60, true)) return null
  const version = view.getUint16(8, true)
  if (version < formatVersionOldest || version > formatVersion) {
    const known = `versions ${formatVersionOldest} to ${formatVersion}`
    const detail = `a journal segment has format version ${version}, this build reads ${known}`
    throw new ServiceError('data_dir_unusable', { detail })
  }
  return {
    epoch: Buffer.from(bytes.subarray(16, 32))
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    base: Number(view.getBigUint64(32, true)) as Position, // written from a Position
    salt: view.getUint32(40, true),
    createdMs: view.getFloat64(48, true),
  }
}

/** Reads the header of an open segment file; null when it is damaged. */
export function readSegmentHeader(disk: Disk, fd: number): SegmentHeader | null {
  const bytes = new Uint8Array(segmentHeaderBytes)
  return parseSegmentHeader(bytes.subarray(0, disk.read(fd, bytes, 0)))
}

/** Where the byte at `position` stands in the file of the segment that starts at `base`. */
export function fileOffset(base: number, position: number): number {
  return segmentHeaderBytes + position - base
}

export function segmentPath(dir: string, base: number): string {
  return join(dir, `${baseName(base)}.seg`)
}

/** The part of a file's name that says where it starts. */
export function baseName(base: number): string {
  return String(base).padStart(20, '0')
}

/** Base positions of the files `<base>.<extension>` among `names`, ascending. */
export function basesOf(names: readonly string[], extension: string): Position[] {
  const bases: Position[] = []
  for (const name of names) {
    const match = /^(\d{20})\.(\w+)$/.exec(name)
    if (match?.[2] === extension) bases.push(Number(match[1]) as Position) // the name was made from a Position
  }
  return bases.sort((a, b) => a - b)
}

/** Writes a new file under a temporary name, lets `fill` write behind the header, and gives it its name for good. */
export function createSegment(
  disk: Disk,
  dir: string,
  header: SegmentHeader,
  fill: (fd: number) => void,
): number {
  const path = segmentPath(dir, header.base)
  const fd = disk.create(`${path}.tmp`)
  try {
    writeAll(disk, fd, [encodeSegmentHeader(header)], 0, segmentHeaderBytes, () => {})
    fill(fd)
    disk.fdatasync(fd)
    disk.rename(`${path}.tmp`, path)
    disk.syncDir(dir)
    return fd
  } catch (error) {
    disk.close(fd)
    throw error
  }
}

/** True when an open segment file ends in a seal. */
export function isSealed(disk: Disk, fd: number, header: SegmentHeader): boolean {
  const offset = disk.sizeOf(fd) - frameHeaderBytes
  if (offset < segmentHeaderBytes || offset % 8 !== 0) return false
  const bytes = new Uint8Array(frameHeaderBytes)
  disk.read(fd, bytes, offset)
  const view = new DataView(bytes.buffer)
  const position = header.base + offset - segmentHeaderBytes
  return (
    view.getUint8(16) === kindCodes.seal &&
    checkFrame(bytes, view, 0, frameHeaderBytes, position, header.salt) === frameHeaderBytes
  )
}
