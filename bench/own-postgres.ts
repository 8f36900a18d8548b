// A Postgres that a scenario starts by itself and gives to its server by DATABASE_URL, so that it can be away for as
// long as the scenario wants: the server's embedded one would be started again at once.

import { type EmbeddedPostgres, openEmbeddedPostgres } from '../src/postgres/embedded.ts'
import { freezePostgres, killPostgres, postgresCpuMs } from './postgres-process.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} }

export class OwnPostgres {
  readonly #folder: string
  #embedded: EmbeddedPostgres

  private constructor(folder: string, embedded: EmbeddedPostgres) {
    this.#folder = folder
    this.#embedded = embedded
  }

  /** Makes a cluster in `folder`, which does not exist yet, and starts it. */
  static async start(folder: string): Promise<OwnPostgres> {
    return new OwnPostgres(folder, await openEmbeddedPostgres({ dir: folder, log: silent }))
  }

  /** The same after every start. */
  get databaseUrl(): string {
    return this.#embedded.connectionString
  }

  /** Processor time it has used so far (ms). */
  cpuMs(): number {
    return postgresCpuMs(this.#folder)
  }

  freeze(): void {
    freezePostgres(this.#folder)
  }

  /** Kills it as a crash would; it stays away. */
  async kill(): Promise<void> {
    // Told first, so that nothing starts it again.
    const stopped = this.#embedded.stop()
    await killPostgres(this.#folder)
    await stopped
  }

  /** Starts it again, recovery included. */
  async startAgain(): Promise<void> {
    this.#embedded = await openEmbeddedPostgres({ dir: this.#folder, log: silent })
  }
}
