// Whose turn it is at the database. Its connections are few and everybody's: a user who asks for slow things many
// times at once waits for their own, and nobody else does.

import { ReadGate } from '../events/read-gate.ts'
import type { TenantSql } from './tenant-sql.ts'

/** Transactions of one user at once, of the ten connections that all share. */
const runningMax = 4
/** Transactions of one user that wait. */
const waitingMax = 100

interface Line {
  readonly gate: ReadGate
  /** Running and waiting. */
  count: number
}

export class Turns {
  readonly #lines = new Map<number, Line>()

  /** `sql` in the turns of its user. Errors: reads_overloaded beside its own, when too many of them wait. */
  of(userId: number, sql: TenantSql): TenantSql {
    const transaction: TenantSql['transaction'] = (body) => this.#run(userId, () => sql.transaction(body))
    const snapshot: TenantSql['snapshot'] = (body) => this.#run(userId, () => sql.snapshot(body))
    return {
      transaction,
      snapshot,
      query: (text, params) => transaction((session) => session.query(text, params)),
    }
  }

  async #run<T>(userId: number, body: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(userId) ?? { gate: new ReadGate(runningMax, waitingMax), count: 0 }
    this.#lines.set(userId, line)
    line.count++
    try {
      return await line.gate.run(body)
    } finally {
      line.count--
      if (line.count === 0) this.#lines.delete(userId)
    }
  }
}
