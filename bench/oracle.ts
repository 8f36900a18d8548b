// The oracle as a scenario sees it: a client process to load a server with, and the judgement afterwards.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Shape } from './capture-request.ts'
import type { ClientSettings, Command, Done, Load } from './oracle-client.ts'
import { readOracleJournal, type SentRequest } from './oracle-journal.ts'
import { PersonsVerifier } from './persons-verifier.ts'
import { readStore, type StorePlace } from './store.ts'
import type { Verdict } from './verdict.ts'
import { type Cut, Verifier } from './verifier.ts'

/** The load of the fault scenarios: every shape, most requests small, a few that must be refused. */
export const mixedLoad: Omit<Load, 'port'> = {
  requestsPerSecond: 600,
  connections: 16,
  mix: { single: 70, batch: 20, large: 0.5, historical: 3, unknownKey: 1, truncated: 1 },
  countMax: Number.MAX_SAFE_INTEGER,
  repeatShare: 0.05,
  resendShare: 0.3,
}

export class Oracle {
  readonly #settings: ClientSettings
  readonly #child: ChildProcess
  #running: Promise<Done> | null = null

  /** Starts the client process; its journal goes to `folder`. */
  constructor(folder: string, settings: Omit<ClientSettings, 'journalPath'>) {
    this.#settings = { ...settings, journalPath: join(folder, `oracle-${settings.client}.journal`) }
    const script = fileURLToPath(new URL('./oracle-client.js', import.meta.url))
    this.#child = fork(script, [JSON.stringify(this.#settings)], { execArgv: ['--enable-source-maps'] })
  }

  /** Begins a load; it goes on until `stop`, or ends by itself at `countMax`. */
  begin(load: Load): void {
    this.#running = this.#command({ kind: 'load', load })
    // Whoever waits for the end hears of a failure; a scenario that fails before that has a reason of its own.
    this.#running.catch(() => {})
  }

  /** Waits for the end of the load that was begun. */
  async finished(): Promise<Done> {
    if (this.#running === null) throw new Error('no load was begun')
    return await this.#running
  }

  /** Ends the load, if it has not ended by itself, and waits for its last answers. */
  async stop(): Promise<Done> {
    this.#send({ kind: 'stop' })
    return await this.finished()
  }

  /** Builds the next request ahead of its load. */
  async prepare(shape: Shape): Promise<void> {
    await this.#command({ kind: 'prepare', shape })
  }

  /** Sends what got no answer again, until each request has one. */
  async resend(port: number): Promise<Done> {
    return await this.#command({ kind: 'resend', port })
  }

  /** What was sent so far, each request at the index of its number. */
  requests(): SentRequest[] {
    return readOracleJournal(this.#settings.journalPath, this.#settings.client)
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }

  async #command(command: Command): Promise<Done> {
    this.#send(command)
    const done = await new Promise<Done>((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`the oracle's client ended with code ${code}`))
      this.#child.once('exit', onExit)
      this.#child.once('message', (message: Done) => {
        this.#child.off('exit', onExit)
        resolve(message)
      })
    })
    if (done.problem !== null) throw new Error(`the oracle's client: ${done.problem}`)
    return done
  }

  #send(command: Command): void {
    this.#child.send(command)
  }
}

/** Judges what `oracles` were told against the stores of a server that has ended. */
export async function verify(
  oracles: readonly Oracle[],
  place: StorePlace,
  cuts: readonly Cut[] = [],
): Promise<Verdict> {
  const requests = new Map<number, SentRequest[]>()
  for (const [client, oracle] of oracles.entries()) requests.set(client, oracle.requests())
  const verifier = new Verifier(requests, cuts)
  const persons = place.facts === null ? null : new PersonsVerifier(place.projectId)
  await readStore(place, verifier, persons)
  return { ...verifier.verdict(), persons: persons?.verdict(place.facts ?? new Map()) ?? null }
}
