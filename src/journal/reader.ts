// The reading side, for a consumer in a thread of its own. It opens the segment files by itself and reads what the
// writer says is committed; of the writer's memory it knows nothing.
//
// A stretch without valid frames below the committed position, or a missing segment, is damage to acknowledged data:
// what there is of it is copied to the quarantine folder, it is reported as a gap, and reading goes on behind it. The
// reader always makes progress.

import { join } from 'node:path'
import { assert } from '../lib/assert.ts'
import { alignTo8 } from '../lib/bytes.ts'
import { type Disk, nodeDisk } from './disk.ts'
import type { JournalChunk, JournalGap, JournalReader, JournalRecord, Lane, Position } from './journal.ts'
import type { Log } from './lane-options.ts'
import { quarantine } from './quarantine.ts'
import { basesOf, readSegmentHeader, type SegmentHeader, segmentHeaderBytes, segmentPath } from './segment.ts'
import { SegmentWalker } from './segment-walker.ts'

export interface JournalReaderOptions {
  /** The journal's folder. */
  readonly dir: string
  readonly quarantineDir: string
  readonly disk?: Disk
  readonly log?: Log
}

/** Read at a time where a single record is looked for. */
const walkBytes = 1024 * 1024
/** What is read between two calls of `takeBack` comes into memory of its own beyond this. */
const lentBytesMax = 32 * 1024 * 1024

interface OpenSegment {
  readonly lane: Lane
  readonly base: Position
  readonly fd: number
  /** Null when it is damaged. */
  readonly header: SegmentHeader | null
  /** Base of the segment after it; null while it is the last. */
  readonly next: Position | null
}

/** Opens a reader; files are opened as they are read. */
export function openJournalReader(options: JournalReaderOptions): JournalReader {
  return new SegmentReader({ disk: nodeDisk, log: () => {}, ...options })
}

class SegmentReader implements JournalReader {
  readonly #options: Required<JournalReaderOptions>
  /** The segment read last in each lane. */
  readonly #open = new Map<Lane, OpenSegment>()
  /**
   * What records are views on, up to #lentBytes, until they are taken back. New memory is zeroed and mapped page by
   * page, which took two fifths of the time of reading.
   */
  #lent = new Uint8Array(0)
  #lentBytes = 0
  /** Bytes that were asked for since records were taken back. */
  #wantedBytes = 0

  constructor(options: Required<JournalReaderOptions>) {
    this.#options = options
  }

  read(lane: Lane, from: Position, upTo: Position, bytesMax: number): JournalChunk {
    const records: JournalRecord[] = []
    const gaps: JournalGap[] = []
    let next = from
    while (next < upTo && records.length === 0) {
      const segment = this.#segmentAt(lane, next, upTo)
      const limit = Math.min(upTo, segment.next ?? upTo) as Position // the least of positions is one
      next = this.#walk(segment, next, limit, bytesMax, records, gaps)
      if (records.length > 0 || next >= limit) continue
      gaps.push(this.#setAside(segment, next, limit))
      next = limit
    }
    return { records, gaps, next }
  }

  recordAt(lane: Lane, position: Position, upTo: Position): JournalRecord | 'none' | 'unknown' {
    const segment = this.#findSegment(lane, position, upTo)
    const header = segment?.header ?? null
    if (segment === null || header === null) return 'unknown'
    const end = Math.min(upTo, segment.next ?? upTo, this.#endOf(segment))
    const walk = (from: Position): SegmentWalker =>
      new SegmentWalker(this.#options.disk, segment.fd, header, from, end, walkBytes)
    const here = walk(position).next()
    if (here.kind === 'frame') return here.frame.kind === 'seal' ? 'unknown' : here.frame
    // Damage, or the inside of another frame: frames are found from the first on.
    const walker = walk(segment.base)
    for (let step = walker.next(); step.kind !== 'end'; step = walker.next()) {
      const end = step.kind === 'damaged' ? step.end : step.frame.end
      if (end <= position) continue
      return step.kind === 'damaged' || step.frame.kind === 'seal' ? 'unknown' : 'none'
    }
    return 'unknown'
  }

  takeBack(): void {
    if (this.#wantedBytes > this.#lent.byteLength && this.#lent.byteLength < lentBytesMax) {
      // What is never written to takes no room.
      const size = Math.min(lentBytesMax, 2 ** Math.ceil(Math.log2(this.#wantedBytes)))
      this.#lent = new Uint8Array(size)
    }
    this.#lentBytes = 0
    this.#wantedBytes = 0
  }

  close(): void {
    for (const { fd } of this.#open.values()) this.#options.disk.close(fd)
    this.#open.clear()
    this.#lent = new Uint8Array(0)
  }

  /** Reads frames of one segment into `records` and `gaps`; returns where it stopped. */
  #walk(
    segment: OpenSegment,
    from: Position,
    limit: Position,
    bytesMax: number,
    records: JournalRecord[],
    gaps: JournalGap[],
  ): Position {
    const { fd, header } = segment
    if (header === null) return from
    const end = Math.min(limit, this.#endOf(segment))
    const takeWindow = (size: number): Uint8Array => this.#lend(size)
    const walker = new SegmentWalker(this.#options.disk, fd, header, from, end, bytesMax, takeWindow)
    let next = from
    while (records.length === 0 || walker.isNextAtHand()) {
      const step = walker.next()
      if (step.kind === 'end' || (step.kind === 'damaged' && !step.isFollowed)) break
      if (step.kind === 'damaged') {
        gaps.push(this.#setAside(segment, step.position, step.end))
        next = step.end
      } else {
        next = step.frame.end
        if (step.frame.kind !== 'seal') records.push(step.frame)
      }
    }
    return next
  }

  #lend(size: number): Uint8Array {
    const start = this.#lentBytes
    const end = alignTo8(start + size)
    this.#wantedBytes += end - start
    if (end > this.#lent.byteLength) return new Uint8Array(size)
    this.#lentBytes = end
    return this.#lent.subarray(start, start + size)
  }

  #segmentAt(lane: Lane, position: Position, upTo: Position): OpenSegment {
    const segment = this.#findSegment(lane, position, upTo)
    assert(segment !== null, `position ${position} of ${lane} is not before the oldest segment`)
    return segment
  }

  /** The segment that holds `position`, opened unless it is the one read last; null before the oldest. */
  #findSegment(lane: Lane, position: Position, upTo: Position): OpenSegment | null {
    const open = this.#open.get(lane)
    if (open !== undefined && open.base <= position && position < (open.next ?? Infinity)) {
      // While it was the last segment, its successor may have appeared.
      if (open.next !== null || upTo <= this.#endOf(open)) return open
    }
    const { disk } = this.#options
    const dir = join(this.#options.dir, lane)
    const bases = basesOf(disk.list(dir), 'seg')
    const index = bases.findLastIndex((base) => base <= position)
    const base = bases[index]
    if (base === undefined) return null
    if (open !== undefined) disk.close(open.fd)
    this.#open.delete(lane)
    const fd = disk.open(segmentPath(dir, base))
    const segment = { lane, base, fd, header: readSegmentHeader(disk, fd), next: bases[index + 1] ?? null }
    this.#open.set(lane, segment)
    return segment
  }

  /** Position at which the file ends. */
  #endOf({ fd, base }: OpenSegment): number {
    return base + this.#options.disk.sizeOf(fd) - segmentHeaderBytes
  }

  #setAside({ lane, fd, base }: OpenSegment, position: Position, end: Position): JournalGap {
    quarantine(this.#options.disk, this.#options, { lane, position, end }, fd, base)
    return { position, end }
  }
}
