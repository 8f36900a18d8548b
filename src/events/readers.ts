// Read connections of the events store: each read has one of its own and never waits for a load. The main thread
// sees to it that only a few run at once (read-gate.ts).

import { type DuckDBConnection, type DuckDBInstance, StatementType } from '@duckdb/node-api'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { failureOf, messageOf, shortMessage } from './failure.ts'
import type { QueryResult, QueryValue } from './messages.ts'

/** A read that takes longer is interrupted. */
export const readMsMax = 30_000
const interruptMs = 100
/** A query that returns more rows is refused: its answer is held in memory three times. */
export const queryRowsMax = 100_000

interface RunOptions {
  readonly id?: number | null
  readonly msMax?: number
}

export class Readers {
  readonly #instance: DuckDBInstance
  readonly #clock: Clock
  readonly #free: DuckDBConnection[] = []
  readonly #busy = new Set<DuckDBConnection>()
  /** Reads with an id, and whether they are to end. */
  readonly #named = new Map<number, 'goes on' | 'ends'>()
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  constructor(instance: DuckDBInstance, clock: Clock) {
    this.#instance = instance
    this.#clock = clock
  }

  /**
   * Runs `read` on a connection of its own. `id` is what `interrupt` knows it by.
   * Errors: reads_overloaded when it took too long or too much memory; storage_failed when the instance is lost.
   */
  async run<T>(
    read: (connection: DuckDBConnection) => Promise<T>,
    { id = null, msMax = readMsMax }: RunOptions = {},
  ): Promise<T> {
    const running = this.#run(read, id, msMax)
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Ends the read that runs under `id`, if there is one. */
  interrupt(id: number): void {
    if (this.#named.has(id)) this.#named.set(id, 'ends')
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
    for (const connection of this.#free) connection.closeSync()
  }

  async #run<T>(
    read: (connection: DuckDBConnection) => Promise<T>,
    id: number | null,
    msMax: number,
  ): Promise<T> {
    if (this.#isClosed) throw new ServiceError('stopping')
    if (id !== null) this.#named.set(id, 'goes on')
    const deadlineMs = this.#clock.monotonicMs() + msMax
    const connection = this.#free.pop() ?? (await this.#instance.connect())
    this.#busy.add(connection)
    const timer = setInterval(() => {
      // Again and again: an interrupt that comes before the statement runs is lost.
      const isEnding = id !== null && this.#named.get(id) === 'ends'
      if (isEnding || this.#clock.monotonicMs() > deadlineMs) connection.interrupt()
    }, interruptMs)
    try {
      return await read(connection)
    } catch (error) {
      throw readError(error, msMax)
    } finally {
      clearInterval(timer)
      this.#busy.delete(connection)
      if (id !== null) this.#named.delete(id)
      this.#free.push(connection)
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

function readError(error: unknown, msMax: number): unknown {
  const message = messageOf(error)
  if (/^INTERRUPT Error/.test(message)) {
    const detail = `The query was stopped: it ran longer than ${msMax / 1000} s, or memory was short.`
    return new ServiceError('reads_overloaded', { detail, cause: error })
  }
  if (/^Out of Memory Error/.test(message))
    return new ServiceError('reads_overloaded', { detail: 'The query needs too much memory.', cause: error })
  if (failureOf(error) === 'fatal')
    return new ServiceError('storage_failed', { detail: shortMessage(error), cause: error })
  return error
}
