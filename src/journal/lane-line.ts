// The way from the main thread to a lane's thread, and what the lane says of itself, in memory that both share.
//
// The lane sleeps until its bell rings, outside of an event loop: to be woken through one costs both threads more. What
// came is then taken in the order in which it was sent: short chains out of the ring, the rest out of messages, which
// are counted here, so that the port is asked only when there is one.
//
// The status is written after each commit and read when somebody asks, some times a second. Each number is stored in
// one piece (aligned, on machines of 64 bits, which uWebSockets.js asks for); two of them may be of two moments.

import { AppendRing, type Chain, createRingMemory, type RingMemory } from './append-ring.ts'
import type { Position } from './journal.ts'
import type { LaneStatus } from './lane-report.ts'

export interface LaneMemory {
  readonly ring: RingMemory
  readonly bell: SharedArrayBuffer
  readonly status: SharedArrayBuffer
}

/** Holds what single events bring in 30 ms at the highest rate; chains that find no room travel as messages. */
const ringBytes = 1024 * 1024
/** What the bell's words count, both round and round: how often it rang, and messages that were sent. */
const rung = 0
const sent = 1
const statusNumbers = 7

export function createLaneMemory(): LaneMemory {
  return {
    ring: createRingMemory(ringBytes),
    bell: new SharedArrayBuffer(8),
    status: new SharedArrayBuffer(statusNumbers * 8),
  }
}

/** The main thread's end. */
export class LaneSender {
  readonly #ring: AppendRing
  readonly #bell: Int32Array
  readonly #status: Float64Array
  #messages = 0

  constructor({ ring, bell, status }: LaneMemory) {
    this.#ring = new AppendRing(ring)
    this.#bell = new Int32Array(bell)
    this.#status = new Float64Array(status)
  }

  /** Copies a short chain behind what was sent; false when it is long or finds no room, and has to be a message. */
  put(chain: Chain): boolean {
    return this.#ring.put(chain, this.#messages)
  }

  /** A message was posted. */
  posted(): void {
    this.#messages = (this.#messages + 1) | 0
    Atomics.store(this.#bell, sent, this.#messages)
  }

  /** Wakes the lane, for all that was sent. */
  ringBell(): void {
    Atomics.add(this.#bell, rung, 1)
    Atomics.notify(this.#bell, rung)
  }

  status(): LaneStatus {
    const [oldest, committed, storedBytes, damagedBytes, isFull, commitCount, commitMsTotal] = this.#status
    return {
      // The lane has written seven numbers, of which two are positions, before anybody asks.
      oldest: oldest as Position,
      committed: committed as Position,
      storedBytes: storedBytes!,
      damagedBytes: damagedBytes!,
      isFull: isFull === 1,
      commitCount: commitCount!,
      commitMsTotal: commitMsTotal!,
    }
  }
}

/** The lane's end. */
export class LaneReceiver {
  readonly #ring: AppendRing
  readonly #bell: Int32Array
  readonly #status: Float64Array
  #messages = 0

  constructor({ ring, bell, status }: LaneMemory) {
    this.#ring = new AppendRing(ring)
    this.#bell = new Int32Array(bell)
    this.#status = new Float64Array(status)
  }

  /** How often the bell has rung. */
  rings(): number {
    return Atomics.load(this.#bell, rung)
  }

  /** Sleeps until the bell has rung since `rings` said so, for `ms` at most. */
  sleep(rings: number, ms: number): void {
    Atomics.wait(this.#bell, rung, rings, ms)
  }

  /**
   * The next thing that was sent: a short chain, or `message` when it is the port's next one. Null when there is none,
   * or when the bell is about to ring.
   */
  next(): Chain | 'message' | null {
    // In this order: chains that were put before a message that is counted are seen in the ring.
    const messages = Atomics.load(this.#bell, sent)
    const chain = this.#ring.take(this.#messages)
    if (chain !== null) return chain
    if (messages === this.#messages) return null
    this.#messages = (this.#messages + 1) | 0
    return 'message'
  }

  /** Lets the main thread see the status. */
  tell(status: LaneStatus): void {
    this.#status[0] = status.oldest
    this.#status[1] = status.committed
    this.#status[2] = status.storedBytes
    this.#status[3] = status.damagedBytes
    this.#status[4] = status.isFull ? 1 : 0
    this.#status[5] = status.commitCount
    this.#status[6] = status.commitMsTotal
  }
}
