// People's SQL, two at a time, and what exports read, one at a time, at the main thread: a short line behind each, and
// a way to end one that nobody waits for. A query that reads rows of Postgres gets copies of them first, on a
// connection that is its own until it ends.

import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { CopiedPage, TemporaryTable } from './copied-rows.ts'
import type { Extracted, ExtractRequest } from './extract.ts'
import type { EventsTasks, QueryResult, QueryValue } from './messages.ts'
import type { Fields } from './pool.ts'
import { ReadGate } from './read-gate.ts'
import type { Selected, SelectLimits } from './select.ts'

/** Calls what it is given when nobody waits for the answer any more. */
export type OnCancel = (cancel: () => void) => void

/** What a query reads beside events. */
export interface Copies {
  readonly projectId: number
  readonly tables: readonly TemporaryTable[]
  /** Reads the rows and adds them, page by page; whatever it throws ends the query. */
  readonly fill: (add: (page: CopiedPage) => Promise<void>) => Promise<void>
}

export interface PeoplesQuery {
  /** As src/query has rewritten it. */
  readonly sql: string
  /** Rows beyond it are not read. */
  readonly rowsMax: number
  readonly copies: Copies | null
  readonly onCancel: OnCancel
}

const limitsDefault: SelectLimits = { msMax: 20_000, memoryBytesMax: 1024 * 1024 * 1024 }
/** Of all reads at once, and in line. */
const runningMax = 2
const waitingMax = 16
/** Exports rest on the way when events come in, and people do not wait for that. */
const exportsMax = 1

type Kind =
  | 'prepare_copies'
  | 'fill_copy'
  | 'drop_copies'
  | 'select'
  | 'select_parquet'
  | 'extract'
  | 'query'
  | 'cancel'

/** The events thread. */
export interface SelectThread {
  ask<K extends Kind>(kind: K, task: Fields<K>): Promise<EventsTasks[K][1]>
}

export class Selects {
  readonly #thread: SelectThread
  readonly #limits: SelectLimits
  readonly #clock: Clock
  readonly #gate = new ReadGate(runningMax, waitingMax)
  readonly #exportGate = new ReadGate(exportsMax, waitingMax)
  #count = 0

  constructor(thread: SelectThread, limits: SelectLimits | null, clock: Clock) {
    this.#thread = thread
    this.#limits = limits ?? limitsDefault
    this.#clock = clock
  }

  /** Errors: reads_overloaded when the line is full or the query was cancelled; those of `runSelect` and of `fill`. */
  run({ sql, rowsMax, ...query }: PeoplesQuery): Promise<Selected> {
    return this.#run(query, (id, limits) => this.#thread.ask('select', { id, sql, rowsMax, limits }))
  }

  /** All rows as a Parquet file. Errors: as `run`, and those of `runSelectParquet`. */
  runParquet({ sql, ...query }: Omit<PeoplesQuery, 'rowsMax'>): Promise<Uint8Array> {
    return this.#run(query, (id, limits) => this.#thread.ask('select_parquet', { id, sql, limits }))
  }

  #run<T>(
    { copies, onCancel }: Pick<PeoplesQuery, 'copies' | 'onCancel'>,
    read: (id: number, limits: SelectLimits) => Promise<T>,
  ): Promise<T> {
    const id = this.#count++
    let isCancelled = false
    onCancel(() => {
      isCancelled = true
      // Whatever comes of it: the query ends by itself in time.
      this.#thread.ask('cancel', { id }).catch(() => {})
    })
    return this.#gate.run(() => {
      const deadlineMs = this.#clock.monotonicMs() + this.#limits.msMax
      /** What is left of its time. */
      const leftMs = (): number => {
        if (isCancelled) throw stopped('it was cancelled')
        const left = deadlineMs - this.#clock.monotonicMs()
        if (left <= 0) throw stopped('reading its persons took too long (QUERY_TIMEOUT_MS)')
        return left
      }
      const select = (): Promise<T> => read(id, { ...this.#limits, msMax: leftMs() })
      leftMs()
      return copies === null ? select() : this.#withCopies(id, copies, leftMs, select)
    })
  }

  /**
   * Errors: reads_overloaded when the line is full or the extraction was cancelled; those of `runExtract` and `fill`.
   */
  extract(request: ExtractRequest, onCancel: OnCancel, copies: Copies | null): Promise<Extracted> {
    const id = this.#count++
    let isCancelled = false
    onCancel(() => {
      isCancelled = true
      // Whatever comes of it: it ends by itself in time.
      this.#thread.ask('cancel', { id }).catch(() => {})
    })
    return this.#exportGate.run(async () => {
      const check = (): void => {
        if (isCancelled) throw stopped('it was cancelled')
      }
      const extract = (): Promise<Extracted> => {
        check()
        return this.#thread.ask('extract', { ...request, id })
      }
      return copies === null ? extract() : this.#withCopies(id, copies, check, extract)
    })
  }

  /** Runs a SELECT of our own for an export. Errors: reads_overloaded; those of `Readers.run`. */
  queryForExport(sql: string, values: readonly QueryValue[]): Promise<QueryResult> {
    return this.#exportGate.run(() => this.#thread.ask('query', { sql, values, isForExport: true }))
  }

  /** Runs `read` once the copies are there; `check` throws when it is no longer wanted. */
  async #withCopies<T>(
    id: number,
    { projectId, tables, fill }: Copies,
    check: () => void,
    read: () => Promise<T>,
  ): Promise<T> {
    try {
      await this.#thread.ask('prepare_copies', { id, tables })
      await fill(async (page) => {
        check()
        await this.#thread.ask('fill_copy', { id, projectId, page })
      })
      return await read()
    } finally {
      // A thread that does not hear it is lost, and the process with it.
      await this.#thread.ask('drop_copies', { id }).catch(() => {})
    }
  }
}

function stopped(why: string): ServiceError {
  return new ServiceError('reads_overloaded', { detail: `The query was stopped: ${why}.` })
}
