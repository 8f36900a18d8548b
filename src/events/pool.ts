// The events thread as a pool of exactly one, and the one way of asking it for something. A lost thread is never
// replaced by one that works: it would own nothing (store.ts).

import { Piscina } from 'piscina'
import { ServiceError } from '../errors.ts'
import { threadFlags } from '../lib/thread-flags.ts'
import { messageOf } from './failure.ts'
import { type Answer, type EventsTasks, valueOfAnswer } from './messages.ts'

/** What a task of kind `K` carries. */
export type Fields<K extends keyof EventsTasks> = Omit<EventsTasks[K][0], 'kind'>

/** From dist/src/events to dist/workers. */
const threadFile = new URL('../../workers/events.js', import.meta.url).href

export class EventsPool {
  readonly #pool: Piscina

  /**
   * `readsMax` reads, a task of the pump, one of the mirror, the copies for two queries and the ends of queries run
   * side by side. As many queries as may wait can end at once, and their ends must not be refused.
   */
  constructor(readsMax: number, onLost: (error: ServiceError) => void) {
    this.#pool = new Piscina({
      filename: threadFile,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: readsMax + 8,
      maxQueue: readsMax + 40,
      // With Atomics on, the thread would sleep between tasks and DuckDB's promises would not settle.
      atomics: 'disabled',
      execArgv: threadFlags,
    })
    this.#pool.on('workerDestroy', () => onLost(lost('it has ended')))
    this.#pool.on('error', (error: unknown) => onLost(lost(messageOf(error))))
  }

  /** Sends one task to the thread and returns the value of its answer, or throws its error. */
  async ask<K extends keyof EventsTasks>(kind: K, task: Fields<K>): Promise<EventsTasks[K][1]> {
    // The thread answers each kind of task as EventsTasks says.
    const given = (await this.#pool.run({ kind, ...task })) as Answer<EventsTasks[K][1]>
    return valueOfAnswer(given)
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
  }
}

export function lost(why: string): ServiceError {
  return new ServiceError('storage_failed', { detail: `the events thread was lost: ${why}` })
}
