// Opening a lane. Only the last segment is read, and the sidecars of the others; the cost does not grow with the
// backlog.
//
// Last segment ends in a seal: a clean end, nothing to copy. Otherwise the process died, and the page cache may hold
// bytes that the disk does not, so the file is never appended to and never trusted: what is valid of it is copied
// into a fresh file, synced, sealed, and takes its place in one rename. Writing always goes on in a new segment.
//
//   torn tail     no valid frame follows in the last segment. It cannot hold acknowledged data, since an
//                 acknowledgement follows the sync: it is cut.
//   corruption    a valid frame follows. The stretch may have been acknowledged: it is copied to the quarantine folder
//                 and stays where it is, readers report it as a gap and go on behind it. Damage in segments before
//                 the last is found by readers, who do the same.
//                 Within the last group commit it is a torn tail too where a sector of it is zeros: a power cut leaves
//                 sectors of a group unwritten, any of them, and what stood there before are zeros (active-segment.ts).
//   half a chain  parts at the end whose last part is missing were never acknowledged: they are cut.
//
// What is cut keeps its positions: seals fill its place. A tail that was acknowledged after all and damaged at rest
// cannot be told from a torn one, and a consumer that has read it must not find other records behind its offset.
// Nor can damage at rest in the last group be told where the record itself holds a sector of zeros: what follows it
// there is cut with it.
//
// On a file system that shows what stood on the disk before a file was lengthened over it, a power cut can leave damage
// that is not zeros inside what was never acknowledged. It looks like corruption and is treated as such: a false alarm
// rather than a loss. (Of ext4's modes, only data=writeback may.)
//
// A segment whose header is damaged stays as one gap; positions go on behind it, so that none is used twice.

import { basename, join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { killPoint } from '../kill-point.ts'
import { alignTo8 } from '../lib/bytes.ts'
import { DedupWindow } from './dedup-window.ts'
import { type Disk, writeAll } from './disk.ts'
import type { Position } from './journal.ts'
import { eachNewKey, keysOfSegment, readSidecar, sidecarPath, tryWriteSidecar } from './key-sidecar.ts'
import type { LaneOptions } from './lane-options.ts'
import { copyBytesOf, quarantine, type Stretch } from './quarantine.ts'
import { encodeSeal, frameHeaderBytes } from './record.ts'
import { SealedSegments, type StoredSegment, type StoredSidecar } from './sealed-segments.ts'
import {
  basesOf,
  createSegment,
  fileOffset,
  isSealed,
  readSegmentHeader,
  type SegmentHeader,
  segmentHeaderBytes,
  segmentPath,
} from './segment.ts'
import { SegmentWalker } from './segment-walker.ts'

export interface RecoveredLane {
  readonly sealed: SealedSegments
  readonly window: DedupWindow
  /** Where the next segment starts. */
  readonly end: Position
}

const scanWindowBytes = 4 * 1024 * 1024
const fillBytesMax = 1024 * 1024
/** What a disk writes whole or not at all. */
const sectorBytes = 512

/**
 * Recovers the lane in `options.dir`.
 * Errors: lineage_foreign for a segment of another epoch, data_dir_unusable for one of a newer format; errors of the
 * disk as they come, with nothing lost: the next start does it again.
 */
export function recoverLane(disk: Disk, options: LaneOptions): RecoveredLane {
  const { dir } = options
  disk.makeDir(dir)
  // What a killed process renamed or deleted is what is seen from here on: it must not come back after a power cut.
  disk.syncDir(dir)
  const names = disk.list(dir)
  for (const name of names) if (name.endsWith('.tmp')) disk.unlink(join(dir, name))
  const bases = basesOf(names, 'seg')
  const segments: StoredSegment[] = []
  const sidecarBases = basesOf(names, 'keys')
  let end = 0 as Position
  for (const base of bases) {
    const fd = disk.open(segmentPath(dir, base))
    try {
      const header = readSegmentHeader(disk, fd)
      if (header !== null) refuseForeign(header, base, options)
      let fileBytes = disk.sizeOf(fd)
      if (base === bases.at(-1) && header !== null) {
        // A killed process may have written its seal without syncing it.
        if (isSealed(disk, fd, header)) disk.fdatasync(fd)
        else fileBytes = sealAgain(disk, options, fd, header)
      }
      // Positions are sums of positions and sizes of frames, or skip a file without a readable header.
      end = (base + alignTo8(Math.max(0, fileBytes - segmentHeaderBytes))) as Position
      if (end > base) segments.push({ base, fileBytes, createdMs: header?.createdMs ?? null })
    } finally {
      disk.close(fd)
    }
  }
  const { window, sidecars } = loadWindow(disk, options, segments, sidecarBases)
  return { sealed: new SealedSegments(disk, options, segments, sidecars), window, end }
}

function refuseForeign(header: SegmentHeader, base: Position, { dir, epoch }: LaneOptions): void {
  if (header.epoch === epoch && header.base === base) return
  const detail =
    `${segmentPath(dir, base)} belongs to the journal ${header.epoch} at ${header.base}, ` +
    `expected ${epoch} at ${base}: ` +
    'move the file away, or put back the journal folder it came from'
  throw new ServiceError('lineage_foreign', { detail })
}

/** Puts a sealed copy of what is valid in place of the unsealed segment; returns its size, 64 when nothing is valid. */
function sealAgain(disk: Disk, options: LaneOptions, fd: number, header: SegmentHeader): number {
  const { dir, log } = options
  const { base } = header
  const end = findValidEnd(disk, options, fd, header)
  const cutBytes = disk.sizeOf(fd) - fileOffset(base, end)
  const writtenBytes = countWritten(disk, fd, fileOffset(base, end), cutBytes)
  if (writtenBytes > 0)
    log('warn', 'journal: cut what was never acknowledged', { dir, position: end, cutBytes: writtenBytes })
  // A segment that lost its seal to damage has a sidecar, with keys of events that may have been cut.
  if (disk.list(dir).includes(basename(sidecarPath(dir, base)))) disk.unlink(sidecarPath(dir, base))
  const sealAt = cutBytes < frameHeaderBytes ? end : end + alignTo8(cutBytes)
  // The writer replaces an empty segment by one of the same name.
  if (sealAt === base) return segmentHeaderBytes
  const copy = createSegment(disk, dir, header, (to) => {
    copyBytesOf(disk, fd, segmentHeaderBytes, to, segmentHeaderBytes, end - base)
    for (const seal of seals(end, end + alignTo8(writtenBytes), sealAt, header.salt)) {
      writeAll(disk, to, [seal.bytes], fileOffset(base, seal.position), fillBytesMax, () => {})
    }
    killPoint(options.killAt, 'during_recovery')
  })
  disk.close(copy)
  return fileOffset(base, sealAt) + frameHeaderBytes
}

/**
 * Seals that fill everything from `from` up to `sealAt`, and the one that stands there. None reaches over `writtenEnd`
 * where it can be avoided: a consumer that has read a tail which was damaged since goes on there.
 */
function* seals(from: number, writtenEnd: number, sealAt: number, salt: number) {
  for (let position = from; position < sealAt; ) {
    const isRoom = writtenEnd - position >= frameHeaderBytes && sealAt - writtenEnd >= frameHeaderBytes
    const left = (isRoom ? writtenEnd : sealAt) - position
    // Never leaves a rest that is too short for a frame.
    const size = left <= fillBytesMax ? left : Math.min(fillBytesMax, left - frameHeaderBytes)
    yield { position, bytes: encodeSeal(position, salt, size) }
    position += size
  }
  yield { position: sealAt, bytes: encodeSeal(sealAt, salt) }
}

/** Walks an unsealed segment to the end of what counts, setting aside what is damaged before it. */
function findValidEnd(disk: Disk, options: LaneOptions, fd: number, header: SegmentHeader): Position {
  const { lane } = options
  const { base } = header
  const limit = base + Math.max(0, disk.sizeOf(fd) - segmentHeaderBytes)
  const walker = new SegmentWalker(disk, fd, header, base, limit, scanWindowBytes)
  let end = base
  let lastGroup = base
  /** With the end of what is whole before each. */
  const damages: (Stretch & { readonly endBefore: Position })[] = []
  for (let step = walker.next(); step.kind !== 'end'; step = walker.next()) {
    if (step.kind === 'frame') {
      lastGroup = step.frame.groupStart
      // A seal that is not at the end of the file belongs to a segment that was damaged behind it.
      if (step.frame.kind !== 'seal' && !step.frame.chainGoesOn) end = step.frame.end
    } else if (step.isFollowed) {
      damages.push({ lane, position: step.position, end: step.end, endBefore: end })
      end = step.end
    }
  }
  for (const damage of damages) {
    if (damage.position >= lastGroup && isPartlyUnwritten(disk, fd, base, damage)) return damage.endBefore
    quarantine(disk, options, damage, fd, base)
  }
  return end
}

/** True when a sector is still zeros as far as the stretch goes in it; its end is in a sector that was written. */
function isPartlyUnwritten(disk: Disk, fd: number, base: Position, { position, end }: Stretch): boolean {
  let offset = fileOffset(base, position)
  const writtenOffset = sectorAt(fileOffset(base, end))
  while (offset < writtenOffset) {
    const sectorEnd = sectorAt(offset) + sectorBytes
    if (countWritten(disk, fd, offset, sectorEnd - offset) === 0) return true
    offset = sectorEnd
  }
  return false
}

function sectorAt(offset: number): number {
  return offset - (offset % sectorBytes)
}

/** How many of `size` bytes from `offset` on there are up to the last that is not zero. */
function countWritten(disk: Disk, fd: number, offset: number, size: number): number {
  const window = new Uint8Array(Math.min(size, scanWindowBytes))
  let written = 0
  for (let done = 0; done < size; ) {
    const count = disk.read(fd, window.subarray(0, Math.min(window.byteLength, size - done)), offset + done)
    if (count === 0) break
    const last = window.subarray(0, count).findLastIndex((byte) => byte !== 0)
    if (last >= 0) written = done + last + 1
    done += count
  }
  return written
}

/** Fills the window from the newest sidecars; makes those that are missing or damaged from their segments. */
function loadWindow(
  disk: Disk,
  options: LaneOptions,
  segments: readonly StoredSegment[],
  sidecarBases: readonly Position[],
): { window: DedupWindow; sidecars: StoredSidecar[] } {
  const { dir, dedupWindowEvents: keysMax } = options
  const withSegment = new Set(segments.map((segment) => segment.base))
  const bases = [...new Set([...withSegment, ...sidecarBases])].sort((a, b) => b - a)
  const loaded: Uint32Array[] = []
  const sidecars: StoredSidecar[] = []
  let keyCount = 0
  for (const base of bases) {
    if (keyCount >= keysMax) {
      // Older keys are out of the window; the count of a sidecar that is not read does not matter any more.
      if (sidecarBases.includes(base)) sidecars.push({ base, keyCount: 0 })
      continue
    }
    const stored = readSidecar(disk, dir, base, keysMax)
    if (stored === null && !withSegment.has(base)) {
      disk.unlink(sidecarPath(dir, base))
      continue
    }
    const keys = stored ?? keysOfSegment(disk, dir, base)
    const isStored = stored !== null || tryWriteSidecar(disk, options, base, keys.length / 2, keys)
    if (isStored) sidecars.push({ base, keyCount: keys.length / 2 })
    loaded.push(keys)
    keyCount += keys.length / 2
  }
  const window = new DedupWindow(keysMax, keyCount)
  for (const keys of loaded.reverse())
    eachNewKey(keys, null, (low, high) => {
      window.seenOrAdd(low, high)
    })
  window.commit(window.added)
  return { window, sidecars: sidecars.reverse() }
}
