// Sends requests over kept-alive connections and measures how long answers take, from the moment a request was due:
// one that finds no connection free waits, and its waiting counts.
//
//   const requests = { port, connections: 64, count: 5000, bytesOf, answered }
//   const report = await runLoop(new OpenPacing(0, 5000, 1000), requests)

import type { Histogram } from 'hdr-histogram-js'
import { machineMs } from './clock.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { HttpConnection } from './http-connection.ts'
import { addLatency, openLatencies } from './latency.ts'
import type { Due, Pacing } from './pacing.ts'

export interface LoopRequests {
  readonly port: number
  readonly connections: number
  /** As many as the pacing gives. */
  readonly count: number
  /** Head and body of a request, unchanged until its answer. */
  bytesOf(number: number): Uint8Array
  /** Hears of each answer, null when the connection ended without one. `body` is valid during the call. */
  answered(number: number, status: number | null, body: Buffer): void
}

export interface LoopReport {
  readonly startMs: number
  /** When the last answer came. */
  readonly endMs: number
  /** µs. */
  readonly latency: Histogram
  /** How often an answer was 503 and the request was sent again. */
  readonly overloaded: number
}

const overloadedMax = 100_000
/** A server that answers nothing for so long has stopped. */
const silenceMsMax = 120_000

export async function runLoop(pacing: Pacing, requests: LoopRequests): Promise<LoopReport> {
  const { port, connections, count } = requests
  const pool = await ConnectionPool.open(port, Math.min(connections, count))
  try {
    return await new RequestLoop(pool, pacing, requests).run()
  } finally {
    pool.close()
  }
}

class RequestLoop {
  readonly #pool: ConnectionPool
  readonly #pacing: Pacing
  readonly #requests: LoopRequests
  readonly #latency = openLatencies()
  readonly #startMs = machineMs()
  readonly #wake = (): void => this.#fill()
  #answerMs = this.#startMs
  #ended = 0
  #overloaded = 0
  #finish: (problem: Error | null) => void = () => {}

  constructor(pool: ConnectionPool, pacing: Pacing, requests: LoopRequests) {
    this.#pool = pool
    this.#pacing = pacing
    this.#requests = requests
  }

  async run(): Promise<LoopReport> {
    const watch = setInterval(() => {
      if (machineMs() - this.#answerMs > silenceMsMax)
        this.#finish(new Error(`the server gave no answer for ${silenceMsMax} ms`))
    }, 1000)
    try {
      await new Promise<void>((resolve, reject) => {
        this.#finish = (problem) => (problem === null ? resolve() : reject(problem))
        this.#pool.onIdle(this.#wake)
        this.#fill()
      })
    } finally {
      clearInterval(watch)
      this.#pool.onIdle(() => {})
    }
    return {
      startMs: this.#startMs,
      endMs: this.#answerMs,
      latency: this.#latency,
      overloaded: this.#overloaded,
    }
  }

  /** Sends what is due while connections are free. */
  #fill(): void {
    try {
      while (this.#pool.hasIdle()) {
        const due = this.#pacing.next(this.#wake)
        if (due === null) return
        this.#send(this.#pool.take(), due)
      }
    } catch (error) {
      // Nothing here throws anything but an Error.
      this.#finish(error as Error)
    }
  }

  #send(connection: HttpConnection, due: Due): void {
    connection.send(this.#requests.bytesOf(due.number), (status, body) => {
      this.#answerMs = machineMs()
      if (status === 503 && this.#pacing.overloaded(due.number, this.#wake)) {
        if (++this.#overloaded > overloadedMax) this.#finish(new Error('the server is overloaded for good'))
      } else {
        addLatency(this.#latency, this.#answerMs - due.dueMs)
        this.#requests.answered(due.number, status, body)
        if (++this.#ended === this.#requests.count) this.#finish(null)
      }
      this.#pool.giveBack(connection)
    })
  }
}
