// Request bodies in memory: one Body per request that is being received, and the Budget all of them share.
//
// Memory follows bytes that came, never bytes that were announced: a Content-Length only caps the last step of growth,
// so ten thousand senders that promise 20 MiB and send nothing cost nothing. The budget never refuses what is legal
// alone: when nothing else is held, a body of any size is admitted.

import type { Bytes } from '../lib/bytes.ts'
import { releaseMemory } from '../release-memory.ts'
import { KeptMemory } from './kept-memory.ts'

export interface BudgetLimits {
  /** Memory for all bodies from their first byte until their handler is done (bytes). */
  readonly bodyBytesHeldMax: number
  /** A body larger than this needs one of the big-body permits, when a quarter of it has come if it said so (bytes). */
  readonly bigBodyBytesMin: number
  readonly bigBodiesMax: number
  /** Memory that is kept for each of them (bytes); one that grows larger has memory of its own. */
  readonly bigBodyBytesKept: number
}

/** A body up to this size that comes in one piece stands in memory that others share (bytes). */
const sharedBodyBytesMax = 8 * 1024
const sharedMemoryBytes = 64 * 1024

/** What the bodies of all open requests may take together. */
export class Budget {
  bytesHeld = 0
  bigBodies = 0
  readonly limits: BudgetLimits
  /** For big bodies. */
  readonly kept: KeptMemory
  #shared = new ArrayBuffer(0)
  #sharedBytes = 0

  constructor(limits: BudgetLimits) {
    this.limits = limits
    this.kept = new KeptMemory(limits.bigBodyBytesKept)
    this.kept.prepare()
  }

  /** Gives `more` bytes to a body that holds `held`; false when they are not there. */
  grow(held: number, more: number): boolean {
    const alone = this.bytesHeld === held
    if (!alone && this.bytesHeld + more > this.limits.bodyBytesHeldMax) return false
    this.bytesHeld += more
    return true
  }

  takeBigPermit(): boolean {
    if (this.bigBodies >= this.limits.bigBodiesMax) return false
    this.bigBodies++
    return true
  }

  giveBigPermitBack(): void {
    this.bigBodies--
    this.kept.prepare()
  }

  /**
   * Memory for a small body beside others, which nobody gets again: it goes when the last of its bodies does. Memory of
   * its own costs 1.4 µs a body, a tenth of what HTTP costs a single event, this 0.1 (Node 20.20).
   */
  share(size: number): Bytes {
    if (this.#sharedBytes + size > this.#shared.byteLength) {
      this.#shared = Buffer.allocUnsafeSlow(sharedMemoryBytes).buffer
      this.#sharedBytes = 0
    }
    const memory: Bytes = new Uint8Array(this.#shared, this.#sharedBytes, size)
    this.#sharedBytes += size
    return memory
  }
}

export type BodyAnswer = 'kept' | 'too_large' | 'overloaded'

const empty: Bytes = new Uint8Array(0)

/** A body on its way in. */
export class Body {
  size = 0
  readonly #budget: Budget
  readonly #bytesMax: number
  readonly #declaredBytes: number
  #memory: Bytes = empty
  /** Counted apart from `#memory`, whose length becomes 0 when its taker moves it to another thread. */
  #bytesHeld = 0
  #isBig = false
  /** Memory it was lent, empty while another thread has it. */
  #lent: ArrayBuffer | null = null

  /** `declaredBytes` is the Content-Length, 0 when there is none. */
  constructor(budget: Budget, bytesMax: number, declaredBytes: number) {
    this.#budget = budget
    this.#bytesMax = bytesMax
    this.#declaredBytes = declaredBytes
  }

  /** Copies `chunk` to the end. After any answer but `kept` the body holds nothing. */
  add(chunk: ArrayBuffer): BodyAnswer {
    const size = this.size + chunk.byteLength
    if (size > this.#bytesMax) return this.#refuse('too_large')
    if (size > this.#bytesHeld && !this.#count(size)) return this.#refuse('overloaded')
    if (size > this.#memory.byteLength) this.#makeRoom(size)
    this.#memory.set(new Uint8Array(chunk), this.size)
    this.size = size
    return 'kept'
  }

  /** Hands the complete body over, once; a small one stands beside others. It stays counted until `release`. */
  take(): Bytes {
    const memory = this.#memory
    this.#memory = empty
    if (this.size === memory.byteLength) return memory
    if (memory.buffer === this.#lent) return memory.subarray(0, this.size)
    // A body without Content-Length ends inside its last doubling; its owner shall not carry the slack around.
    const body = memory.slice(0, this.size)
    releaseMemory(memory.buffer)
    return body
  }

  /** Whether it stands in memory that others had and will have. */
  get isLent(): boolean {
    return this.#lent !== null
  }

  /** The memory of a body that was handed over is back from the thread that it was moved to. */
  giveBack(memory: ArrayBuffer): void {
    this.#lent = memory
  }

  /** Gives everything back. Harmless when called twice. */
  release(): void {
    this.#budget.bytesHeld -= this.#bytesHeld
    this.#leaveMemory()
    if (this.#isBig) this.#budget.giveBigPermitBack()
    this.#memory = empty
    this.#bytesHeld = 0
    this.#isBig = false
  }

  #refuse(answer: BodyAnswer): BodyAnswer {
    this.release()
    return answer
  }

  /** Counts what `sizeMin` bytes take; false when that is too much. */
  #count(sizeMin: number): boolean {
    if (!this.#isBig && this.#willBeBig(sizeMin)) {
      this.#isBig = this.#budget.takeBigPermit()
      if (!this.#isBig) return false
    }
    const held = this.#bytesHeld
    const doubled = held === 0 ? sizeMin : Math.max(sizeMin, held * 2)
    const cap = this.#declaredBytes >= sizeMin ? this.#declaredBytes : this.#bytesMax
    const room = Math.min(doubled, cap)
    if (!this.#budget.grow(held, room - held)) return false
    this.#bytesHeld = room
    return true
  }

  /** Whether it is big with `sizeMin` bytes. One that says so is believed when a quarter of that has come. */
  #willBeBig(sizeMin: number): boolean {
    const { bigBodyBytesMin } = this.#budget.limits
    return sizeMin > (this.#declaredBytes > bigBodyBytesMin ? bigBodyBytesMin / 4 : bigBodyBytesMin)
  }

  /** Moves to memory for `sizeMin` bytes, which are counted. */
  #makeRoom(sizeMin: number): void {
    const room = this.#bytesHeld
    // What comes slowly has memory of its own, so that it holds nobody else's.
    if (sizeMin === this.#declaredBytes && this.size === 0 && room <= sharedBodyBytesMax) {
      this.#memory = this.#budget.share(room)
      return
    }
    const lent = this.#isBig ? this.#budget.kept.lend(sizeMin) : null
    // Not from Node's shared pool: the body is moved to another thread with its memory. Not zeroed: bytes past `size`
    // are never handed out.
    const memory: Bytes = new Uint8Array(lent ?? Buffer.allocUnsafeSlow(room).buffer)
    memory.set(this.#memory.subarray(0, this.size))
    this.#leaveMemory()
    this.#memory = memory
    this.#lent = lent
  }

  /** Leaves the memory as it is to whoever comes next. Without this a body of 19 MB that doubles keeps 28 more. */
  #leaveMemory(): void {
    if (this.#lent === null) releaseMemory(this.#memory.buffer)
    else if (this.#lent.byteLength > 0) this.#budget.kept.giveBack(this.#lent)
    this.#lent = null
  }
}
