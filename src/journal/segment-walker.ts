// Walks the frames of one segment file, over damage too. Used at recovery, to rebuild a sidecar, and by readers.
//
// Where no valid frame stands, the walker looks at every following multiple of 8 for one with the right position and
// checksum, and reports the stretch between as damaged. What that means is the caller's to say: at the end of an
// unsealed segment a torn tail, elsewhere damage to data that was acknowledged.

import type { Disk } from './disk.ts'
import type { Position } from './journal.ts'
import { checkFrame, type Frame, frameBytesAt, frameHeaderBytes, readFrame, standsAt } from './record.ts'
import { fileOffset, type SegmentHeader } from './segment.ts'

export type Step =
  | { readonly kind: 'frame'; readonly frame: Frame }
  /** `isFollowed`: a valid frame stands at `end`. Otherwise the walk is over. */
  | {
      readonly kind: 'damaged'
      readonly position: Position
      readonly end: Position
      readonly isFollowed: boolean
    }
  | { readonly kind: 'end' }

/** Gives memory for `size` bytes that are read at once; what it holds is overwritten. */
export type TakeWindow = (size: number) => Uint8Array

const takeNew: TakeWindow = (size) => new Uint8Array(size)

export class SegmentWalker {
  readonly #disk: Disk
  readonly #fd: number
  readonly #header: SegmentHeader
  readonly #limit: number
  readonly #windowBytes: number
  readonly #takeWindow: TakeWindow
  #position: number
  /** Bytes of the file from #windowStart (a position) on; frames handed out are views on it. */
  #window: Uint8Array
  #view: DataView
  #windowStart: number

  /**
   * Walks from `from` up to `limit`, exclusive, reading about `windowBytes` at a time. Frames last as long as nothing
   * else is read into the memory that `takeWindow` gave.
   */
  constructor(
    disk: Disk,
    fd: number,
    header: SegmentHeader,
    from: Position,
    limit: number,
    windowBytes: number,
    takeWindow: TakeWindow = takeNew,
  ) {
    this.#disk = disk
    this.#fd = fd
    this.#header = header
    this.#limit = limit
    this.#windowBytes = windowBytes
    this.#takeWindow = takeWindow
    this.#position = from
    this.#window = new Uint8Array(0)
    this.#view = new DataView(this.#window.buffer)
    this.#windowStart = from
  }

  next(): Step {
    const position = this.#position
    if (position >= this.#limit) return { kind: 'end' }
    const size = this.#check(position)
    if (size > 0) {
      this.#position += size
      const frame = readFrame(this.#window, this.#view, position - this.#windowStart)
      return { kind: 'frame', frame }
    }
    const found = this.#findFrame(position + 8)
    this.#position = found ?? this.#limit
    return {
      kind: 'damaged',
      position: position as Position, // the walk stands on positions of this lane only
      end: this.#position as Position,
      isFollowed: found !== null,
    }
  }

  /** True when the next frame is whole in what was read already, so that `next` needs no disk. */
  isNextAtHand(): boolean {
    const at = this.#position - this.#windowStart
    const available = Math.min(this.#limit - this.#windowStart, this.#window.byteLength) - at
    return available >= frameHeaderBytes && frameBytesAt(this.#view, at) <= available
  }

  /** Size of the valid frame at `position`, or 0. */
  #check(position: number): number {
    this.#fill(position, frameHeaderBytes)
    const size = this.#checkInWindow(position)
    if (size >= 0) return size
    if (position - size > this.#limit) return 0
    this.#fill(position, -size)
    return Math.max(0, this.#checkInWindow(position))
  }

  #checkInWindow(position: number): number {
    const at = position - this.#windowStart
    const available = this.#window.byteLength - at
    return checkFrame(this.#window, this.#view, at, available, position, this.#header.salt)
  }

  #findFrame(from: number): number | null {
    for (let position = from; position + frameHeaderBytes <= this.#limit; position += 8) {
      this.#fill(position, frameHeaderBytes)
      const at = position - this.#windowStart
      if (at + frameHeaderBytes > this.#window.byteLength) return null // the file is shorter than it was
      if (standsAt(this.#view, at, position) && this.#check(position) > 0) return position
    }
    return null
  }

  /** Makes the window hold `size` bytes from `position` on, as far as there are any before the limit. */
  #fill(position: number, size: number): void {
    const wanted = Math.min(position + size, this.#limit)
    if (position >= this.#windowStart && wanted <= this.#windowStart + this.#window.byteLength) return
    const window = this.#takeWindow(Math.min(Math.max(size, this.#windowBytes), this.#limit - position))
    const offset = fileOffset(this.#header.base, position)
    this.#window = window.subarray(0, this.#disk.read(this.#fd, window, offset))
    this.#view = new DataView(window.buffer, window.byteOffset, this.#window.byteLength)
    this.#windowStart = position
  }
}
