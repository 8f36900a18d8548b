// Growing memory that is written to byte by byte and used again for the next request.

import type { Bytes } from '../lib/bytes.ts'

/** Shorter copies are quicker in a loop than through a view and a native call (measured, Node 20). */
const loopBytesMax = 64

export class TextArena {
  bytes: Bytes
  /** The same bytes, for reading four at a time. */
  view: DataView
  /** Bytes in use. Whoever reserved room may write there and move it on. */
  size = 0
  /** Where the value being written starts, for an arena that is a column. */
  valueStart = 0
  readonly #firstSize: number

  constructor(firstSize: number) {
    this.#firstSize = firstSize
    this.bytes = new Uint8Array(firstSize)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Makes room for `length` bytes after those in use. */
  reserve(length: number): void {
    const needed = this.size + length
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.size))
    this.#use(grown)
  }

  /** Forgets all, and gives memory back beyond `keptSize`. */
  clear(keptSize: number): void {
    this.size = 0
    if (this.bytes.length > Math.max(keptSize, this.#firstSize)) this.#use(new Uint8Array(this.#firstSize))
  }

  /** Appends one byte; the room is reserved. */
  put(byte: number): void {
    this.bytes[this.size++] = byte
  }

  /** Appends source[start, end); the room is reserved. */
  append(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this
    let to = this.size
    if (end - start > loopBytesMax) bytes.set(source.subarray(start, end), to)
    else for (let from = start; from < end; ) bytes[to++] = source[from++]!
    this.size += end - start
  }

  #use(bytes: Bytes): void {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer)
  }
}
