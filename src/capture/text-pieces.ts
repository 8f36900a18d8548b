// The text of a large gzip body, inflated piece by piece: what was read is let go before the next piece comes.
//
// Inflating is left to libuv's pool, one slice of the body at a time. Nobody reads the body between two calls of
// `more`: whoever gives up may free it.

import { createGunzip } from 'node:zlib'
import type { Bytes } from '../lib/bytes.ts'
import { releasedBytesMin, releaseMemory } from '../release-memory.ts'

export interface PieceLimits {
  /** Of the body that are inflated at a time. */
  readonly sliceBytes: number
  /** Text that is held: an event must fit. */
  readonly heldBytesMax: number
  /** Of all text. */
  readonly textBytesMax: number
}

/** Text that most slices make. */
const inflatedTo = 16

export class TextPieces {
  readonly #body: Bytes
  readonly #limits: PieceLimits
  // Memory of this size can be freed as soon as it is full and copied.
  readonly #gunzip = createGunzip({ chunkSize: releasedBytesMin })
  readonly #failed: Promise<never>
  #sliceStart = 0
  #memory: Bytes
  #start = 0
  #end = 0
  #count = 0
  #isOver = false
  #ended: () => void = () => {}

  constructor(body: Bytes, limits: PieceLimits) {
    this.#body = body
    this.#limits = limits
    this.#memory = new Uint8Array(Math.min(limits.sliceBytes * inflatedTo, limits.heldBytesMax))
    this.#failed = new Promise((_, reject) => this.#gunzip.on('error', reject))
    this.#failed.catch(() => {}) // told by `more`
    this.#gunzip.on('data', (piece: Buffer) => this.#take(piece))
    this.#gunzip.once('end', () => {
      this.#isOver ||= this.#sliceStart < body.length
      this.#ended()
    })
  }

  /** Bytes of text that came so far. */
  get count(): number {
    return this.#count
  }

  /** The text that is held, good until the next call of `more`. */
  get bytes(): Bytes {
    return this.#memory.subarray(this.#start, this.#end)
  }

  /** Lets the first `count` bytes go. */
  drop(count: number): void {
    this.#start += count
  }

  /**
   * Inflates the next slice. Returns 'end' when there is none, and 'over' when a limit is exceeded or the gzip ends
   * before the last slice: this text cannot be read in pieces. Errors: zlib's.
   */
  async more(): Promise<'more' | 'end' | 'over'> {
    const start = this.#sliceStart
    if (start >= this.#body.length) return 'end'
    this.#sliceStart += this.#limits.sliceBytes
    const isLast = this.#sliceStart >= this.#body.length
    await Promise.race([this.#inflate(this.#body.subarray(start, this.#sliceStart), isLast), this.#failed])
    return this.#isOver ? 'over' : 'more'
  }

  /** Frees all. */
  close(): void {
    this.#gunzip.destroy()
    releaseMemory(this.#memory.buffer)
  }

  #inflate(slice: Bytes, isLast: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      // Padding behind the gzip ends the text without an answer to what was written.
      this.#ended = resolve
      if (isLast) this.#gunzip.end(slice)
      else this.#gunzip.write(slice, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Keeps a piece, or nothing any more once a limit is exceeded: the slice is inflated to its end all the same. */
  #take(piece: Buffer): void {
    const { heldBytesMax, textBytesMax } = this.#limits
    const size = this.#end - this.#start + piece.length
    this.#count += piece.length
    this.#isOver ||= this.#count > textBytesMax || size > heldBytesMax
    if (this.#isOver) return
    if (size > this.#memory.length) this.#moveTo(new Uint8Array(Math.min(size * 2, heldBytesMax)))
    else if (this.#end + piece.length > this.#memory.length) this.#moveTo(this.#memory)
    this.#memory.set(piece, this.#end)
    this.#end += piece.length
    const { buffer, byteOffset, length } = piece
    // Inflating goes on behind a piece as long as there is room.
    if (buffer instanceof ArrayBuffer && byteOffset + length === buffer.byteLength) releaseMemory(buffer)
  }

  #moveTo(memory: Bytes): void {
    memory.set(this.bytes)
    this.#end -= this.#start
    this.#start = 0
    this.#memory = memory
  }
}
