// A server under test together with the oracle that loads and judges it: what every fault scenario does between two
// faults.

import { join } from 'node:path'
import { mixedLoad, Oracle, verify } from './oracle.ts'
import { type Facts, readFacts } from './persons-facts.ts'
import { waitForPersons, waitUntilApplied } from './sentinel.ts'
import { killEmbeddedPostgres, projectApiKey, type ServerOptions, ServerProcess } from './server-process.ts'
import type { Verdict } from './verdict.ts'
import type { Cut } from './verifier.ts'

export class Subject {
  readonly dataDir: string
  readonly oracle: Oracle
  /** From launch to accepting, of every start but the first, which makes the data folder (ms). */
  readonly acceptMs: number[] = []
  readonly #options: ServerOptions
  readonly #cuts: Cut[] = []
  #server: ServerProcess

  /**
   * Launches a server on `dataDir`, which does not exist yet. Its log and the oracle's journal go to `folder`;
   * `settings` are for every server, by their documented names.
   */
  constructor(
    folder: string,
    dataDir: string,
    seed: number,
    settings: Readonly<Record<string, string>> = {},
  ) {
    this.dataDir = dataDir
    this.#options = { dataDir, logPath: join(folder, 'server.log'), settings }
    this.oracle = new Oracle(folder, { client: 0, seed, projectApiKey })
    this.#server = new ServerProcess(this.#options)
  }

  get server(): ServerProcess {
    return this.#server
  }

  /** Starts a server without waiting for it, with `more` settings of its own. */
  launch(more: Readonly<Record<string, string>> = {}): void {
    this.#server = new ServerProcess({ ...this.#options, settings: { ...this.#options.settings, ...more } })
  }

  async start(): Promise<void> {
    this.launch()
    this.acceptMs.push(await this.#server.accepting())
  }

  /** Loads the server until `endLoad`. */
  beginLoad(): void {
    this.oracle.begin({ ...mixedLoad, port: this.#server.port })
  }

  async endLoad(): Promise<void> {
    await this.oracle.stop()
  }

  /** Takes note of a power cut, whose answers prove nothing. */
  noteCut(cut: Cut): void {
    this.#cuts.push(cut)
  }

  /**
   * Lets the running server catch up, stops it, and judges its stores. With `resend`, what got no answer so far is
   * sent again first, so that every request has one.
   */
  async judge(resend: boolean): Promise<Verdict> {
    const caughtUp = await this.#catchUp(resend).catch((cause) => {
      throw this.#server.isRunning ? cause : this.#server.failure('the server ended by itself', cause)
    })
    const { dataDir, projectId } = this.#server
    await this.#server.stop()
    return await verify([this.oracle], { dataDir, projectId, ...caughtUp }, this.#cuts)
  }

  async #catchUp(resend: boolean): Promise<{ sentinels: string[]; facts: Facts }> {
    const server = this.#server
    if (resend) await this.oracle.resend(server.port)
    const sentinels = await waitUntilApplied(server)
    await waitForPersons(server)
    return { sentinels, facts: await readFacts(await server.databaseUrl(), server.projectId) }
  }

  async close(): Promise<void> {
    await this.#server.kill()
    await killEmbeddedPostgres(this.dataDir)
    await this.oracle.close()
  }
}
