// Connections that take turns, so that none is idle for so long that a server closes it. One that ends is replaced, a
// limited number of times.

import { HttpConnection } from './http-connection.ts'

const reopenedMax = 1000

export class ConnectionPool {
  readonly #port: number
  readonly #idle: HttpConnection[] = []
  readonly #all = new Set<HttpConnection>()
  /** Called when a connection is idle again. */
  #onIdle: () => void = () => {}
  #reopened = 0
  #problem: Error | null = null

  private constructor(port: number) {
    this.#port = port
  }

  static async open(port: number, count: number): Promise<ConnectionPool> {
    const pool = new ConnectionPool(port)
    // One after the other: a thousand at once would overrun the server's backlog.
    for (let index = 0; index < count; index++) await pool.#add()
    return pool
  }

  onIdle(listener: () => void): void {
    this.#onIdle = listener
  }

  /** Whether a connection can be taken. Throws when the server no longer takes connections. */
  hasIdle(): boolean {
    if (this.#problem !== null) throw this.#problem
    // A request sent on one that ended while it was idle would never be heard of again.
    while (this.#idle.length > 0 && !this.#idle[0]!.isOpen) this.giveBack(this.take())
    return this.#idle.length > 0
  }

  /** The connection that has been idle the longest; there is one. */
  take(): HttpConnection {
    return this.#idle.shift()! // the caller has asked `hasIdle`
  }

  /** Gives a connection back; another takes the place of one that has ended. */
  giveBack(connection: HttpConnection): void {
    if (connection.isOpen) {
      this.#idle.push(connection)
      this.#onIdle()
      return
    }
    this.#all.delete(connection)
    this.#reopen().catch((error: Error) => {
      this.#problem = error
      this.#onIdle()
    })
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  async #reopen(): Promise<void> {
    if (++this.#reopened > reopenedMax) throw new Error(`the server closed ${reopenedMax} connections`)
    await this.#add()
    this.#onIdle()
  }

  async #add(): Promise<void> {
    const connection = await HttpConnection.open(this.#port)
    this.#all.add(connection)
    this.#idle.push(connection)
  }
}
