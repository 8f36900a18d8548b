// The database as a process sees it that is about to be killed: from some step on nothing is asked or answered any
// more. A step is sending a statement, or hearing its answer, so that the last one may take effect without anybody
// knowing.

import { ServiceError } from '../../src/errors.ts'
import type { Postgres, QueryResult, Session } from '../../src/postgres/pool.ts'

export class MortalPostgres implements Postgres {
  readonly #inner: Postgres
  #stepsLeft = Number.POSITIVE_INFINITY

  constructor(inner: Postgres) {
    this.#inner = inner
  }

  /** Lets it die after so many steps from now; never is for a new process. */
  dieAfter(steps: number): void {
    this.#stepsLeft = steps
  }

  get isDead(): boolean {
    return this.#stepsLeft < 0
  }

  async query<Row extends object>(sql: string, params: readonly unknown[] = []): Promise<QueryResult<Row>> {
    return this.#between(() => this.#inner.query<Row>(sql, params))
  }

  async transaction<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#between(() =>
      this.#inner.transaction((session) =>
        body({ query: (sql, params) => this.#between(() => session.query(sql, params)) }),
      ),
    )
  }

  hold: Postgres['hold'] = () => this.#inner.hold()
  listen: Postgres['listen'] = (...all) => this.#inner.listen(...all)
  close: Postgres['close'] = () => this.#inner.close()

  async #between<T>(statement: () => Promise<T>): Promise<T> {
    this.#step()
    const result = await statement()
    this.#step()
    return result
  }

  #step(): void {
    if (!this.isDead) this.#stepsLeft--
    if (this.isDead) throw new ServiceError('postgres_unavailable')
  }
}
