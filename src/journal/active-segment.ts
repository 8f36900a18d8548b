// The segment file that a lane is writing.

import { killPoint } from '../kill-point.ts'
import { type Disk, writeAll } from './disk.ts'
import type { Position } from './journal.ts'
import type { LaneOptions } from './lane-options.ts'
import { encodeSeal, frameHeaderBytes } from './record.ts'
import type { StoredSegment } from './sealed-segments.ts'
import { createSegment, newSegmentHeader, type SegmentHeader, segmentHeaderBytes } from './segment.ts'

export class ActiveSegment {
  readonly #disk: Disk
  readonly #options: LaneOptions
  readonly #header: SegmentHeader
  readonly #fd: number

  /** Creates the segment that starts at `base`, synced and under its name. */
  constructor(disk: Disk, options: LaneOptions, base: Position, createdMs: number) {
    this.#disk = disk
    this.#options = options
    this.#header = newSegmentHeader(options.epoch, base, createdMs)
    this.#fd = createSegment(disk, options.dir, this.#header, () => {})
  }

  get base(): Position {
    return this.#header.base
  }

  get salt(): number {
    return this.#header.salt
  }

  /** Size of the file when it ends at `position`. */
  bytesUpTo(position: number): number {
    return segmentHeaderBytes + position - this.#header.base
  }

  /** Writes frames from `position` on; they are on disk when it returns. */
  write(buffers: readonly Uint8Array[], position: number): void {
    const { killAt, syncBytesMax } = this.#options
    writeAll(this.#disk, this.#fd, buffers, this.bytesUpTo(position), syncBytesMax, () => {
      killPoint(killAt, 'after_writev')
      this.#disk.fdatasync(this.#fd)
    })
  }

  /** Puts the seal at `position` and closes the file. */
  seal(position: number): StoredSegment {
    const seal = encodeSeal(position, this.#header.salt)
    writeAll(this.#disk, this.#fd, [seal], this.bytesUpTo(position), frameHeaderBytes, () => {})
    this.#disk.fdatasync(this.#fd)
    killPoint(this.#options.killAt, 'segment_roll')
    this.close()
    const { base, createdMs } = this.#header
    return { base, fileBytes: this.bytesUpTo(position + frameHeaderBytes), createdMs }
  }

  /** Cuts everything from `position` on. */
  truncate(position: number): void {
    this.#disk.ftruncate(this.#fd, this.bytesUpTo(position))
    this.#disk.fdatasync(this.#fd)
  }

  close(): void {
    this.#disk.close(this.#fd)
  }
}
