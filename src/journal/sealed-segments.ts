// The segments of a lane that are not written to any more, their sidecars, and when they are deleted.
//
// A segment goes when everything in it is released and it is too old or too much is kept; under disk pressure the
// release alone decides, never less. Files go oldest first, so that what is left has no hole, and the last file of a
// lane never goes: its name and size say where the next start goes on. The dedup window does not hold segments back:
// their sidecars, 8 bytes an event, stay behind until the window has moved past them.

import { killPoint } from '../kill-point.ts'
import type { DedupWindow } from './dedup-window.ts'
import type { Disk } from './disk.ts'
import type { Position } from './journal.ts'
import { keysOfSegment, sidecarPath, tryWriteSidecar } from './key-sidecar.ts'
import type { LaneOptions } from './lane-options.ts'
import { segmentHeaderBytes, segmentPath } from './segment.ts'

export interface StoredSegment {
  readonly base: Position
  readonly fileBytes: number
  /** Null when its header is damaged. */
  readonly createdMs: number | null
}

/** A sidecar on disk and how many keys it brings to the window. */
export interface StoredSidecar {
  readonly base: Position
  readonly keyCount: number
}

export interface RetentionRule {
  readonly keepBytes: number
  readonly keepMs: number
  /** Everything before it has been applied and made safe by every consumer. */
  readonly released: Position
  readonly nowMs: number
  readonly isPressed: boolean
}

export class SealedSegments {
  readonly #disk: Disk
  readonly #options: LaneOptions
  /** Both ascending. */
  #segments: readonly StoredSegment[]
  #sidecars: readonly StoredSidecar[]
  #bytes = 0

  constructor(
    disk: Disk,
    options: LaneOptions,
    segments: readonly StoredSegment[],
    sidecars: readonly StoredSidecar[],
  ) {
    this.#disk = disk
    this.#options = options
    this.#segments = segments
    this.#sidecars = sidecars
    for (const segment of segments) this.#bytes += segment.fileBytes
  }

  /** Base of the first segment; null when there is none. */
  get oldest(): Position | null {
    return this.#segments[0]?.base ?? null
  }

  /** Bytes of the segment files. */
  get bytes(): number {
    return this.#bytes
  }

  /** Takes over a segment that was just sealed and adds the newest `keyCount` keys of the window as its sidecar. */
  add(segment: StoredSegment, window: DedupWindow, keyCount: number): void {
    this.#segments = [...this.#segments, segment]
    this.#bytes += segment.fileBytes
    const keys = window.newest(Math.min(keyCount, window.size))
    this.#writeSidecar(segment.base, keyCount, keys)
  }

  /**
   * Deletes what may go. `activeBytes` and `activeKeys` are the size of the segment being written, 0 when there is
   * none, and the keys it added to the window. Returns how many segments went; errors of the disk as they come.
   */
  deleteExpired(rule: RetentionRule, activeBytes: number, activeKeys: number): number {
    const { dir, killAt, dedupWindowEvents } = this.#options
    const countMax = activeBytes > 0 ? this.#segments.length : this.#segments.length - 1
    const count = Math.min(countMax, countExpired(this.#segments, activeBytes, rule))
    const expired = this.#segments.slice(0, Math.max(0, count))
    let deleted = 0
    for (const { base, fileBytes } of expired) {
      if (!this.#secureSidecar(base)) break
      this.#disk.unlink(segmentPath(dir, base))
      this.#segments = this.#segments.slice(1)
      this.#bytes -= fileBytes
      killPoint(killAt, 'retention_unlink')
      // Synced one by one: names that vanish out of order would leave a hole, which readers take for damage.
      this.#disk.syncDir(dir)
      deleted++
    }
    if (deleted === 0) return 0
    const outdated = outdatedSidecars(this.#sidecars, activeKeys, dedupWindowEvents, this.oldest)
    for (const { base } of outdated) {
      this.#disk.unlink(sidecarPath(dir, base))
      this.#sidecars = this.#sidecars.filter((sidecar) => sidecar.base !== base)
    }
    return deleted
  }

  /** Sees to it that the segment's sidecar is there, and on disk, to outlive it. False when there is no room for it. */
  #secureSidecar(base: Position): boolean {
    const { dir, dedupWindowEvents } = this.#options
    if (dedupWindowEvents === 0) return true
    if (!this.#sidecars.some((sidecar) => sidecar.base === base)) {
      const keys = keysOfSegment(this.#disk, dir, base)
      if (!this.#writeSidecar(base, keys.length / 2, keys)) return false
    }
    const fd = this.#disk.open(sidecarPath(dir, base))
    try {
      this.#disk.fdatasync(fd)
    } finally {
      this.#disk.close(fd)
    }
    this.#disk.syncDir(dir)
    return true
  }

  #writeSidecar(base: Position, total: number, keys: Uint32Array): boolean {
    if (!tryWriteSidecar(this.#disk, this.#options, base, total, keys)) return false
    const sidecars = [...this.#sidecars, { base, keyCount: keys.length / 2 }]
    this.#sidecars = sidecars.sort((a, b) => a.base - b.base)
    return true
  }
}

/** How many of `segments` (ascending, without the one being written) may be deleted, counted from the oldest. */
export function countExpired(
  segments: readonly StoredSegment[],
  activeBytes: number,
  rule: RetentionRule,
): number {
  let kept = activeBytes
  for (const segment of segments) kept += segment.fileBytes
  let count = 0
  for (const segment of segments) {
    const end = segment.base + segment.fileBytes - segmentHeaderBytes
    const isOld = segment.createdMs === null || rule.nowMs - segment.createdMs > rule.keepMs
    if (end > rule.released || !(isOld || kept > rule.keepBytes || rule.isPressed)) break
    kept -= segment.fileBytes
    count++
  }
  return count
}

/**
 * Sidecars (ascending) whose keys have left a window of `keysMax`, where `newerKeys` came after all of them, and
 * whose segment is gone (`oldest` is the first one left).
 */
export function outdatedSidecars(
  sidecars: readonly StoredSidecar[],
  newerKeys: number,
  keysMax: number,
  oldest: Position | null,
): StoredSidecar[] {
  let keyCount = newerKeys
  const outdated: StoredSidecar[] = []
  for (const sidecar of sidecars.toReversed()) {
    if (keyCount >= keysMax && (oldest === null || sidecar.base < oldest)) outdated.push(sidecar)
    keyCount += sidecar.keyCount
  }
  return outdated
}
