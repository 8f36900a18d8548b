// A server under test together with the oracle that loads and judges it: what every fault scenario does between two
// faults.

import { mixedLoad, Oracle, verify } from './oracle.ts'
import { waitUntilApplied } from './sentinel.ts'
import { killPostgres, projectApiKey, ServerProcess } from './server-process.ts'
import type { Verdict } from './verdict.ts'
import type { Cut } from './verifier.ts'

export class Subject {
  readonly dataDir: string
  readonly oracle: Oracle
  /** From launch to accepting, of every start but the first, which makes the data folder (ms). */
  readonly acceptMs: number[] = []
  readonly #cuts: Cut[] = []
  #server: ServerProcess

  /** Launches a server on `dataDir`, which does not exist yet. The oracle's journal goes to `folder`. */
  constructor(folder: string, dataDir: string, seed: number) {
    this.dataDir = dataDir
    this.oracle = new Oracle(folder, { client: 0, seed, projectApiKey })
    this.#server = new ServerProcess(dataDir)
  }

  get server(): ServerProcess {
    return this.#server
  }

  /** Starts a server without waiting for it. */
  launch(): void {
    this.#server = new ServerProcess(this.dataDir)
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
   * Lets the running server catch up, stops it, and judges its store. With `resend`, what got no answer so far is
   * sent again first, so that every request has one.
   */
  async judge(resend: boolean): Promise<Verdict> {
    if (resend) await this.oracle.resend(this.#server.port)
    const sentinels = await waitUntilApplied(this.#server)
    const { dataDir, projectId } = this.#server
    await this.#server.stop()
    return await verify([this.oracle], { dataDir, projectId, sentinels }, this.#cuts)
  }

  async close(): Promise<void> {
    await this.#server.kill()
    await killPostgres(this.dataDir)
    await this.oracle.close()
  }
}
