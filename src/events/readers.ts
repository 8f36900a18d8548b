// Read connections of the events store: each read has one of its own and never waits for a load. The main thread
// sees to it that only a few run at once (read-gate.ts).

import { type DuckDBConnection, type DuckDBInstance, StatementType } from '@duckdb/node-api'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { failureOf, messageOf, shortMessage } from './failure.ts'
import type { QueryResult, QueryValue } from './messages.ts'
import type { Pacing } from './pacing.ts'

/** A read that takes longer is interrupted. */
export const readMsMax = 30_000
const interruptMs = 100
/** How often people's queries are looked at, which takes some 5 µs: a core fills about 1 MB of memory in 1 ms. */
const watchMs = 20
/** A query that returns more rows is refused: its answer is held in memory three times. */
export const queryRowsMax = 100_000

/** Why a read is made to end. */
type Ending = 'none' | 'cancelled' | 'late' | 'large'

interface RunOptions {
  readonly id?: number | null
  readonly msMax?: number
  /** How much the process may grow meanwhile. */
  readonly memoryBytesMax?: number
  /** For whom it reads: people and exports give way to ingestion, and exports have time for it. */
  readonly reader?: Reader
}

type Reader = 'ourselves' | 'people' | 'exports'

export class Readers {
  readonly #instance: Pick<DuckDBInstance, 'connect'>
  readonly #clock: Clock
  readonly #pacing: Pacing | null
  readonly #free: DuckDBConnection[] = []
  readonly #busy = new Set<DuckDBConnection>()
  /** Connections that are kept for the reads of an id. */
  readonly #held = new Map<number, DuckDBConnection>()
  /** Reads with an id, and whether they are to end. */
  readonly #named = new Map<number, Ending>()
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  /** Without `pacing` nobody gives way, and there is nothing to read that could be paced. */
  constructor(instance: Pick<DuckDBInstance, 'connect'>, clock: Clock, pacing: Pacing | null = null) {
    this.#instance = instance
    this.#pacing = pacing
    this.#clock = clock
  }

  /**
   * Runs `read` on a connection of its own. `id` is what `interrupt` knows it by.
   * Errors: reads_overloaded when it took too long or too much memory; storage_failed when the instance is lost.
   */
  async run<T>(
    read: (connection: DuckDBConnection) => Promise<T>,
    {
      id = null,
      msMax = readMsMax,
      memoryBytesMax = Number.POSITIVE_INFINITY,
      reader = 'ourselves',
    }: RunOptions = {},
  ): Promise<T> {
    const running = this.#run(read, { id, msMax, memoryBytesMax, reader })
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Keeps a new connection for the reads of `id`, once `prepare` has run on it. Errors: those of `run`. */
  async hold(id: number, prepare: (connection: DuckDBConnection) => Promise<void>): Promise<null> {
    this.#held.set(id, await this.#instance.connect())
    await this.run(prepare, { id })
    return null
  }

  /** Closes the connection that was kept for `id`. */
  letGo(id: number): void {
    const connection = this.#held.get(id)
    this.#held.delete(id)
    // One that is being read is closed by its reader.
    if (connection !== undefined && !this.#busy.has(connection)) connection.closeSync()
  }

  /** Ends the read that runs under `id`, if there is one. */
  interrupt(id: number): void {
    if (this.#named.has(id)) this.#named.set(id, 'cancelled')
  }

  /** Ends every running read, to give its memory back. */
  interruptAll(): void {
    for (const connection of this.#busy) connection.interrupt()
  }

  /** Ends what runs and closes the connections: the instance may be closed after it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.interruptAll()
    // An interrupt between two statements of a read is lost: say it until all have heard.
    const timer = setInterval(() => this.interruptAll(), interruptMs)
    await Promise.allSettled(this.#running)
    clearInterval(timer)
    for (const connection of [...this.#free, ...this.#held.values()]) connection.closeSync()
    this.#held.clear()
  }

  async #run<T>(
    read: (connection: DuckDBConnection) => Promise<T>,
    { id, msMax, memoryBytesMax, reader }: Required<RunOptions>,
  ): Promise<T> {
    if (this.#isClosed) throw new ServiceError('stopping')
    const deadlineMs = this.#clock.monotonicMs() + msMax
    const memoryBytesEnd = process.memoryUsage.rss() + memoryBytesMax
    let ending: Ending = 'none'
    if (id !== null) this.#named.set(id, 'none')
    const held = id === null ? undefined : this.#held.get(id)
    const connection = held ?? this.#free.pop() ?? (await this.#instance.connect())
    this.#busy.add(connection)
    let restedMs = (): number => 0
    const lateMs = (): number => deadlineMs + (reader === 'exports' ? restedMs() : 0)
    const watch = (): void => {
      if (id !== null && this.#named.get(id) === 'cancelled') ending = 'cancelled'
      else if (this.#clock.monotonicMs() > lateMs()) ending = 'late'
      else if (ending === 'none' && process.memoryUsage.rss() > memoryBytesEnd) ending = 'large'
      // Again and again: an interrupt that comes before the statement runs is lost.
      if (ending !== 'none') connection.interrupt()
    }
    const timer = setInterval(watch, memoryBytesMax === Number.POSITIVE_INFINITY ? interruptMs : watchMs)
    try {
      if (this.#pacing === null) return await read(connection)
      if (reader === 'ourselves') {
        await this.#pacing.prepare(connection)
        return await read(connection)
      }
      return await this.#pacing.run(connection, (rested) => {
        restedMs = rested
        return read(connection)
      })
    } catch (error) {
      throw readError(error, ending, { msMax, memoryBytesMax, restedMs: restedMs() })
    } finally {
      clearInterval(timer)
      this.#busy.delete(connection)
      if (id !== null) this.#named.delete(id)
      if (held === undefined) this.#free.push(connection)
      else if (this.#isClosed || this.#held.get(id ?? -1) !== connection) connection.closeSync()
    }
  }
}

/** Runs one SELECT with its values bound as parameters. Errors: invalid_input for anything that is not a SELECT. */
export async function runQuery(
  connection: DuckDBConnection,
  sql: string,
  values: readonly QueryValue[],
): Promise<QueryResult> {
  const statement = await connection.prepare(sql)
  try {
    if (statement.statementType !== StatementType.SELECT)
      throw new ServiceError('invalid_input', { detail: 'expected one SELECT statement' })
    statement.bind([...values])
    const reader = await statement.streamAndReadUntil(queryRowsMax + 1)
    if (reader.currentRowCount > queryRowsMax)
      throw new ServiceError('invalid_input', { detail: `the query returns more than ${queryRowsMax} rows` })
    return { columns: reader.columnNames(), rows: reader.getRowsJson() }
  } finally {
    statement.destroySync()
  }
}

function readError(
  error: unknown,
  ending: Ending,
  {
    msMax,
    memoryBytesMax,
    restedMs,
  }: { readonly msMax: number; readonly memoryBytesMax: number; readonly restedMs: number },
): unknown {
  const message = messageOf(error)
  if (/^INTERRUPT Error/.test(message)) {
    const isPeoples = memoryBytesMax !== Number.POSITIVE_INFINITY
    const why: Readonly<Record<Ending, string>> = {
      none: 'memory was short',
      cancelled: 'it was cancelled',
      late: isPeoples
        ? `it took too long (QUERY_TIMEOUT_MS)${restedMs > msMax / 2 ? ', since events that come in go first' : ''}`
        : `it ran longer than ${msMax / 1000} s`,
      large: `it needed more than ${memoryBytesMax / 1024 / 1024} MiB of memory (QUERY_MEMORY_LIMIT)`,
    }
    return new ServiceError('reads_overloaded', {
      detail: `The query was stopped: ${why[ending]}.`,
      cause: error,
    })
  }
  if (/^Out of Memory Error/.test(message)) {
    const detail =
      'The query needs too much memory: more than DUCKDB_MEMORY_LIMIT leaves it, on the disk too.'
    return new ServiceError('reads_overloaded', { detail, cause: error })
  }
  if (failureOf(error) === 'fatal')
    return new ServiceError('storage_failed', { detail: shortMessage(error), cause: error })
  return error
}
