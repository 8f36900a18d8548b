// Takes turns on the main thread, one at a time, for as long as one is due.
//
//   idle      none is due; a timer or `wake` ends it
//   running   turns follow each other until none is due
//   halted    told so, or a turn has thrown; for good

/** What the loop drives. */
export interface Turns {
  /** Milliseconds until the next turn is due, 0 or less: now; infinite when something must happen before, and wake. */
  dueInMs(): number
  turn(): Promise<void>
  /** A turn has thrown; the loop is halted. */
  failed(error: unknown): void
}

export class Loop {
  readonly #turns: Turns
  #mode: 'idle' | 'running' | 'halted' = 'idle'
  #running: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null

  constructor(turns: Turns) {
    this.#turns = turns
  }

  get isHalted(): boolean {
    return this.#mode === 'halted'
  }

  /** A turn may be due. */
  wake(): void {
    if (this.#mode !== 'idle') return
    this.#mode = 'running'
    this.#running = this.#run().catch((error: unknown) => {
      this.halt()
      this.#turns.failed(error)
    })
  }

  /** Resolves when no turn is under way. */
  rest(): Promise<void> {
    return this.#running
  }

  /** Takes no further turn; the one under way runs to its end. */
  halt(): void {
    this.#mode = 'halted'
    this.#clearTimer()
  }

  async #run(): Promise<void> {
    this.#clearTimer()
    while (this.#mode === 'running') {
      const dueMs = this.#turns.dueInMs()
      if (dueMs > 0) this.#sleep(dueMs)
      else await this.#turns.turn()
    }
  }

  /** Goes idle until a turn is due. */
  #sleep(dueMs: number): void {
    this.#mode = 'idle'
    if (dueMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => this.wake(), Math.ceil(dueMs))
    // The server's sockets keep the process alive, not this.
    this.#timer.unref()
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
