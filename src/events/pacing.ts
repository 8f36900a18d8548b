// Reads that rest. A paced read of events stops between two vectors of rows (2,048 of them, some 10 ms of work where
// properties are read) for as long as the debt asks it to (giving-way.ts), wherever in a plan the table stands, and
// holds no lock meanwhile. It is told by a condition that is always true and that DuckDB asks of every vector first:
// a function of ours that answers on this thread, and DuckDB's own sleep_ms on the thread that reads.
//
// Reads that may be paced name temp.main.paced_events, in which people's SQL cannot see the condition. On a connection
// that is not paced it is events and nothing more: the condition takes 0.1 ms a vector.

import { setTimeout as delay } from 'node:timers/promises'
import { BIGINT, BOOLEAN, type DuckDBConnection, DuckDBScalarFunction, INTEGER } from '@duckdb/node-api'
import type { Clock } from '../lib/clock.ts'
import type { GivingWay } from './giving-way.ts'

/** A read that gives way, from its beginning to its end. */
interface Paced {
  /** When it last began to work. */
  sinceMs: number
  /** What it is to rest now. */
  dueMs: number
  /** How long it has rested. */
  restedMs: number
}

/** Shorter rests are not worth waking up from. */
const restMsMin = 5
/** A rest ends at once when its read is interrupted; the debt may be paid earlier than it seemed. */
const restMsMax = 1_000

/** Filling a copy is a third of what its rows take from Postgres on (copied-rows.ts). */
const workBeside = 3

const dueFunction = 'spate_rest_due'
const msFunction = 'spate_rest_ms'

/** The tables behind the paced views. */
const views = { paced_events: 'main.events', paced_event: 'main.event' } as const

export class Pacing {
  readonly #givingWay: Pick<GivingWay, 'isWanted' | 'restMs'>
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #paced = new Map<number, Paced>()
  /** What the views of a connection ask for: the number of a read, or null. */
  readonly #numbers = new WeakMap<DuckDBConnection, number | null>()
  #count = 0

  /** Registers its functions with the instance of `connection`. */
  constructor(
    connection: DuckDBConnection,
    givingWay: Pick<GivingWay, 'isWanted' | 'restMs'>,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#givingWay = givingWay
    this.#clock = clock
    const shared = { parameterTypes: [INTEGER], specialHandling: true, volatile: true }
    const due = DuckDBScalarFunction.create({
      ...shared,
      name: dueFunction,
      returnType: BOOLEAN,
      mainFunction: (_info, input, output) => {
        const isDue = this.#isDue(Number(input.getColumnVector(0).getItem(0)))
        for (let row = 0; row < input.rowCount; row++) output.setItem(row, isDue && row === 0)
        output.flush()
      },
    })
    const ms = DuckDBScalarFunction.create({
      ...shared,
      name: msFunction,
      returnType: BIGINT,
      mainFunction: (_info, input, output) => {
        const restMs = BigInt(this.#rest(Number(input.getColumnVector(0).getItem(0))))
        for (let row = 0; row < input.rowCount; row++) output.setItem(row, restMs)
        output.flush()
      },
    })
    for (const one of [due, ms]) {
      connection.registerScalarFunction(one)
      one.destroySync()
    }
  }

  /**
   * Runs `read` on `connection`, paced when events came in a moment ago. `restedMs` says how long
   * it has rested so far.
   */
  async run<T>(connection: DuckDBConnection, read: (restedMs: () => number) => Promise<T>): Promise<T> {
    if (!this.#givingWay.isWanted) {
      await this.#makeViews(connection, null)
      return await read(() => 0)
    }
    const number = this.#numbers.get(connection) ?? this.#count++
    await this.#makeViews(connection, number)
    const paced: Paced = { sinceMs: this.#clock.monotonicMs(), dueMs: 0, restedMs: 0 }
    this.#paced.set(number, paced)
    try {
      return await read(() => paced.restedMs)
    } finally {
      this.#paced.delete(number)
    }
  }

  /**
   * Runs `work` for a read, such as copying a page of rows for it, and rests for it before the next: for what the main
   * thread and Postgres have worked, too.
   */
  async working<T>(work: () => Promise<T>): Promise<T> {
    const startedMs = this.#clock.monotonicMs()
    const result = await work()
    const workedMs = (this.#clock.monotonicMs() - startedMs) * workBeside
    const restMs = Math.min(this.#givingWay.restMs(workedMs), restMsMax)
    if (restMs >= restMsMin) await delay(restMs)
    return result
  }

  /** Sees to it that the views are there, for a read that is not paced. */
  async prepare(connection: DuckDBConnection): Promise<void> {
    if (!this.#numbers.has(connection)) await this.#makeViews(connection, null)
  }

  async #makeViews(connection: DuckDBConnection, number: number | null): Promise<void> {
    if (this.#numbers.get(connection) === number) return
    this.#numbers.delete(connection)
    const condition =
      number === null
        ? ''
        : `where case when ${dueFunction}(${number}) then sleep_ms(${msFunction}(${number})) is null else true end`
    for (const [view, table] of Object.entries(views))
      await connection.run(`create or replace temp view ${view} as select * from ${table} ${condition}`)
    this.#numbers.set(connection, number)
  }

  #isDue(number: number): boolean {
    const paced = this.#paced.get(number)
    if (paced === undefined) return false
    const nowMs = this.#clock.monotonicMs()
    paced.dueMs = Math.min(this.#givingWay.restMs(Math.max(0, nowMs - paced.sinceMs)), restMsMax)
    paced.sinceMs = nowMs
    return paced.dueMs >= restMsMin
  }

  #rest(number: number): number {
    const paced = this.#paced.get(number)
    if (paced === undefined) return 0
    const { dueMs } = paced
    paced.sinceMs = this.#clock.monotonicMs() + dueMs
    paced.restedMs += dueMs
    return dueMs
  }
}
