// People's SQL at the main thread: two at a time, a short line behind them, and a way to end one that nobody waits for.

import { ServiceError } from '../errors.ts'
import { ReadGate } from './read-gate.ts'
import type { Selected, SelectTask } from './select.ts'

/** Calls what it is given when nobody waits for the answer any more. */
export type OnCancel = (cancel: () => void) => void

/** Of all reads at once, and in line. */
const runningMax = 2
const waitingMax = 16

interface Thread {
  select(task: Omit<SelectTask, 'kind'>): Promise<Selected>
  cancel(id: number): Promise<unknown>
}

export class Selects {
  readonly #thread: Thread
  readonly #gate = new ReadGate(runningMax, waitingMax)
  #count = 0

  constructor(thread: Thread) {
    this.#thread = thread
  }

  /** Errors: reads_overloaded when the line is full or the query was cancelled; those of `runSelect`. */
  run(sql: string, rowsMax: number, onCancel: OnCancel): Promise<Selected> {
    const id = this.#count++
    let isCancelled = false
    onCancel(() => {
      isCancelled = true
      // Whatever comes of it: the query ends by itself in time.
      this.#thread.cancel(id).catch(() => {})
    })
    return this.#gate.run(async () => {
      if (isCancelled) throw new ServiceError('reads_overloaded', { detail: 'The query was cancelled.' })
      return this.#thread.select({ id, sql, rowsMax })
    })
  }
}
