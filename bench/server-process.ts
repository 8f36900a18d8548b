// A real server as a process of its own, to load, measure and kill. Runs the server itself (`--child`), without the
// parent that restarts it: a scenario wants to see a server end.

import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../src/config.ts'
import { findEmbeddedPostgres } from '../src/postgres/embedded.ts'
import { machineMs } from './clock.ts'
import { pinned } from './pinned.ts'
import { killPostgres } from './postgres-process.ts'
import { waitFor } from './wait.ts'

export const projectApiKey = 'phc_benchProjectKeyOfTheFirstProject'
export const personalApiKey = 'phx_benchPersonalKeyOfTheFirstOwner'

/** This file runs in its dist/bench. */
const ownCheckout = fileURLToPath(new URL('../..', import.meta.url))
const acceptMsMax = 60_000
const stopMsMax = 45_000
const lastLinesMax = 40

export interface ServerOptions {
  readonly dataDir: string
  /** Where the server's log is appended; on another disk than the data where that is to fail. */
  readonly logPath: string
  /** Environment variables by their documented names. */
  readonly settings?: Readonly<Record<string, string>>
  /** Folder of a checkout that is built; this one by default. */
  readonly checkout?: string
  /** The core that it runs on with all it starts; null: any. */
  readonly core?: number | null
}

export interface ServerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class ServerProcess {
  readonly dataDir: string
  readonly projectApiKey = projectApiKey
  readonly personalApiKey = personalApiKey
  /** Settles when the process has ended. */
  readonly ended: Promise<ServerEnd>
  readonly #child: ChildProcess
  readonly #logPath: string
  readonly #settings: Readonly<Record<string, string>>
  readonly #startedMs = machineMs()
  /** The end of the log, for the message when something goes wrong. */
  readonly #lastLines: string[] = []
  #port: number | null = null
  #end: ServerEnd | null = null

  /** Launches a server. */
  constructor({ dataDir, logPath, settings = {}, checkout = ownCheckout, core = null }: ServerOptions) {
    this.dataDir = dataDir
    this.#logPath = logPath
    this.#settings = settings
    mkdirSync(dataDir, { recursive: true })
    const main = join(checkout, 'dist', 'src', 'main.js')
    const [command, ...args] = pinned(core, [process.execPath, '--enable-source-maps', main, '--child'])
    this.#child = spawn(command!, args, {
      // The channel lets the server notice when the bench is gone, so that none is left behind.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: {
        ...childEnvironment(),
        PORT: '0',
        HOST: '127.0.0.1',
        DATABASE_URL: '',
        DATA_DIR: dataDir,
        LOG_FORMAT: 'json',
        BOOTSTRAP_PROJECT_API_KEY: projectApiKey,
        BOOTSTRAP_PERSONAL_API_KEY: personalApiKey,
        ...settings,
      },
    })
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#end = { code, signal }
        resolve(this.#end)
      })
    })
    // Spawned with a pipe for stderr.
    createInterface({ input: this.#child.stderr! }).on('line', (line) => this.#read(line))
  }

  get port(): number {
    if (this.#port === null) throw new Error('the server does not listen yet')
    return this.#port
  }

  get pid(): number {
    return this.#child.pid! // it was spawned
  }

  get isRunning(): boolean {
    return this.#end === null
  }

  /** The project that bootstrap made. */
  get projectId(): number {
    // The server writes this file before it accepts anything.
    const bootstrap = JSON.parse(readFileSync(join(this.dataDir, 'bootstrap.json'), 'utf8')) as {
      project_id: number
    }
    return bootstrap.project_id
  }

  /** How to reach the server's Postgres, which runs as long as the server does when it is the embedded one. */
  async databaseUrl(): Promise<string> {
    const url = this.#settings.DATABASE_URL || (await findEmbeddedPostgres(postgresFolder(this.dataDir)))
    if (url === null) throw this.failure('there is no Postgres')
    return url
  }

  /** Waits until capture is accepted, and returns how long that took since the launch (ms). */
  async accepting(): Promise<number> {
    const port = await waitFor('the server listens', acceptMsMax, () => {
      if (this.#end !== null) throw this.failure('the server ended before it listened')
      return this.#port
    })
    await waitFor('the server is ready', acceptMsMax, async () => {
      if (this.#end !== null) throw this.failure('the server ended before it was ready')
      const response = await fetch(`http://127.0.0.1:${port}/_readyz`).catch(() => null)
      await response?.arrayBuffer()
      return response?.status === 200 ? true : null
    })
    return machineMs() - this.#startedMs
  }

  /** Kills the process as a crash would, and waits for its end. Does nothing when it has ended. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** Asks the server to stop, as an operator would, and waits for its end. */
  async terminate(): Promise<ServerEnd> {
    this.#child.kill('SIGTERM')
    return await waitFor('the server stops', stopMsMax, () => this.#end).catch(async (cause) => {
      await this.kill()
      throw this.failure('the server did not stop', cause)
    })
  }

  /** Stops the server. Throws when it does not end by itself with code 0. */
  async stop(): Promise<void> {
    const { code } = await this.terminate()
    if (code !== 0) throw this.failure('the server did not stop cleanly')
  }

  /** Lets `peakRssBytes` tell of what comes from now on. */
  forgetPeakRss(): void {
    writeFileSync(`/proc/${this.#child.pid}/clear_refs`, '5')
  }

  /** The most memory the process ever held (bytes). Throws when it has ended by itself. */
  peakRssBytes(): number {
    if (this.#end !== null) throw this.failure('the server ended by itself')
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
  }

  /** An error that tells how the process ended, and its last words. */
  failure(what: string, cause?: unknown): Error {
    const end = this.#end === null ? '' : ` (code ${this.#end.code}, signal ${this.#end.signal})`
    return new Error(`${what}${end}\n${this.#lastLines.join('\n')}`, { cause })
  }

  #read(line: string): void {
    appendFileSync(this.#logPath, `${line}\n`)
    this.#lastLines.push(line)
    if (this.#lastLines.length > lastLinesMax) this.#lastLines.shift()
    if (!line.includes('"listening"')) return
    // The server's log is JSON lines, and this one names its port.
    const { msg, port } = JSON.parse(line) as { msg: string; port: number }
    if (msg === 'listening') this.#port = port
  }
}

/** Kills an embedded Postgres that its server left behind. Returns how many processes that were. */
export async function killEmbeddedPostgres(dataDir: string): Promise<number> {
  return await killPostgres(postgresFolder(dataDir))
}

function postgresFolder(dataDir: string): string {
  return join(dataDir, 'postgres')
}
