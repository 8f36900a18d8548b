// Memory in which big bodies land, one after the other, and which stays with the process.
//
// As long as a socket is full, uWebSockets.js goes on reading it in one turn of the event loop: a body that comes fast
// enough is read whole, and nobody else is heard meanwhile. How long that takes is up to the memory, which the system
// hands out page by page as it is touched for the first time. Of a body of 19 MB the longest turn took 14 to 31 ms in
// memory that doubled; in this it takes 2 to 3, as the sender cannot keep up, 15 at the worst (Node 20.20, two virtual
// cores).
//
// A server has one from its start, touched piece by piece while nothing waits, and one more as soon as more big bodies
// than ever came at once.

import { assert } from '../lib/assert.ts'
import { releaseMemory } from '../release-memory.ts'

/** What is touched in one turn of the event loop: about half a millisecond (bytes). */
const touchedBytes = 512 * 1024

export class KeptMemory {
  readonly #size: number
  readonly #ready: ArrayBuffer[] = []
  #isPreparing = false

  /** Each piece has `size` bytes; 0 keeps none. */
  constructor(size: number) {
    this.#size = size
  }

  /**
   * Memory of at least `sizeMin` bytes, to be given back; null when there is none, and then there will be one more. Its
   * bytes are what others left.
   */
  lend(sizeMin: number): ArrayBuffer | null {
    if (sizeMin > this.#size) return null
    const memory = this.#ready.pop()
    if (memory === undefined) this.prepare()
    return memory ?? null
  }

  /** Takes back what was lent, also when it has been to another thread meanwhile. */
  giveBack(memory: ArrayBuffer): void {
    assert(!this.#ready.includes(memory), 'memory is given back once')
    if (memory.byteLength === this.#size) this.#ready.push(memory)
    else releaseMemory(memory)
  }

  /** Sees to it that there is one to lend, some turns of the event loop later. */
  prepare(): void {
    if (this.#isPreparing || this.#ready.length > 0 || this.#size === 0) return
    this.#isPreparing = true
    this.#touch(new Uint8Array(Buffer.allocUnsafeSlow(this.#size).buffer), 0)
  }

  #touch(memory: Uint8Array<ArrayBuffer>, at: number): void {
    if (at < this.#size) {
      memory.fill(0, at, at + touchedBytes)
      setImmediate(() => this.#touch(memory, at + touchedBytes))
      return
    }
    this.#isPreparing = false
    this.giveBack(memory.buffer)
  }
}
