// One server of a comparison: fresh data, loaded sample by sample, judged in the end.

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { machineMs } from './clock.ts'
import type { Corpus } from './corpus.ts'
import { cpuSeconds, mainThreadSeconds } from './cpu.ts'
import { type Freshness, readFreshness } from './freshness.ts'
import type { LoadReport } from './load-generator.ts'
import type { LoadProcess } from './load-process.ts'
import { addProjects } from './load-projects.ts'
import { judgeLoad, type LoadVerdict } from './load-verdict.ts'
import { type Cores, coreSeconds } from './pinned.ts'
import { waitForPersons, waitUntilApplied } from './sentinel.ts'
import { metric } from './server-metrics.ts'
import { killEmbeddedPostgres, ServerProcess } from './server-process.ts'
import type { Workload } from './workload.ts'

/** What a stretch of requests took. Seconds of processor time are those of the server and its Postgres together. */
export interface Stretch {
  readonly events: number
  readonly requests: number
  /** From the first request to the last answer. */
  readonly acked: Duration
  /** … until all events can be queried. */
  readonly queryable: Duration
  /** … until persons have caught up as well. */
  readonly settled: Duration
  /** Whose the processor seconds of `settled` are. */
  readonly shares: CpuShares
  readonly journalBytes: number
  readonly latencyMs: LoadReport['latencyMs']
  readonly overloaded: number
  /** How busy the generator was, of one core: near 1 it is what bounds the figure. */
  readonly generatorShare: number
}

export interface Duration {
  readonly seconds: number
  readonly cpuSeconds: number
  /** Seconds that other programs had the server's core; 0 when it is not pinned. */
  readonly stolenSeconds: number
}

/** Seconds of processor time. */
export interface CpuShares {
  /** The thread that speaks HTTP and decodes small bodies. */
  readonly mainThread: number
  /** The server's other threads: decoding, journal, events, persons, DuckDB, V8. */
  readonly otherThreads: number
  readonly postgres: number
}

export interface SideEnd {
  readonly verdict: LoadVerdict
  readonly peakRssBytes: number
  /** Of the events' file once it is checkpointed, for each event. */
  readonly diskBytesPerEvent: number
  /** Of all stretches that were sent at a rate, which follow each other; null without. */
  readonly freshness: Freshness | null
}

export interface SideOptions {
  readonly folder: string
  readonly corpus: Corpus
  readonly workload: Workload
  readonly cores: Cores
  /** A built checkout; this one by default. */
  readonly checkout: string | null
  /** Environment variables by their documented names. */
  readonly settings?: Readonly<Record<string, string>>
}

const applyMsMax = 300_000
/** Asking takes about a millisecond of the server's. */
const pollMs = 50

interface Reading {
  readonly ms: number
  readonly cpu: number
  readonly core: number
  readonly mainThread: number
  readonly postgres: number
}

export class IngestSide {
  readonly #options: SideOptions
  readonly #server: ServerProcess
  readonly #failures = new Map<number, number | null>()
  #sent = 0
  #evenSpan: { readonly fromMs: number; readonly toMs: number } | null = null

  constructor(options: SideOptions) {
    const { folder, cores, checkout, settings = {} } = options
    this.#options = options
    this.#server = new ServerProcess({
      dataDir: join(folder, 'data'),
      logPath: join(folder, 'server.log'),
      core: cores.server,
      settings,
      ...(checkout === null ? {} : { checkout }),
    })
  }

  get server(): ServerProcess {
    return this.#server
  }

  /** How many requests were sent: the number of the next one. */
  get sentCount(): number {
    return this.#sent
  }

  async accepting(): Promise<void> {
    await this.#server.accepting()
    await addProjects(this.#server, this.#options.workload.projectCount)
  }

  /** Sends the next `count` requests, at a rate or as fast as answers come, and waits until all is applied. */
  async stretch(
    generator: LoadProcess,
    load: { readonly count: number; readonly connections: number; readonly requestsPerSecond: number | null },
  ): Promise<Stretch> {
    const journalBefore = await this.#journalBytes()
    const before = this.#read()
    const report = await generator.send({ ...load, port: this.#server.port, first: this.#sent })
    const acked = this.#since(before)
    this.#sent += load.count
    for (const [number, status] of report.failures) this.#failures.set(number, status)
    await waitUntilApplied(this.#server, applyMsMax, pollMs)
    const queryable = this.#since(before)
    await waitForPersons(this.#server, applyMsMax, pollMs)
    const settled = this.#since(before)
    if (load.requestsPerSecond !== null)
      this.#evenSpan = { fromMs: this.#evenSpan?.fromMs ?? report.startMs, toMs: report.endMs }
    const seconds = (report.endMs - report.startMs) / 1000
    return {
      events: (load.count - report.failures.length) * this.#options.workload.eventCount,
      requests: load.count - report.failures.length,
      // The answers' own clock: the report comes a little later.
      acked: { ...acked, seconds },
      queryable,
      settled,
      shares: this.#sharesSince(before),
      journalBytes: (await this.#journalBytes()) - journalBefore,
      latencyMs: report.latencyMs,
      overloaded: report.overloaded,
      generatorShare: report.cpuSeconds / seconds,
    }
  }

  /** Stops the server and judges its store. */
  async end(): Promise<SideEnd> {
    const { corpus, workload } = this.#options
    const peakRssBytes = this.#server.peakRssBytes()
    await this.#server.stop()
    const { dataDir } = this.#server
    const sent = { corpus, workload, count: this.#sent, failures: this.#failures }
    const verdict = await judgeLoad(dataDir, sent)
    const diskBytes = fileBytes(dataDir, 'events.duckdb')
    return {
      verdict,
      peakRssBytes,
      diskBytesPerEvent: diskBytes / verdict.acknowledgedEvents,
      freshness: this.#evenSpan === null ? null : await readFreshness(dataDir, this.#evenSpan),
    }
  }

  async close(): Promise<void> {
    await this.#server.kill()
    await killEmbeddedPostgres(this.#server.dataDir)
  }

  /** Gives the room on disk back; for a side that kept its promises. */
  remove(): void {
    rmSync(this.#server.dataDir, { recursive: true })
  }

  async #journalBytes(): Promise<number> {
    return await metric(this.#server, 'spate_journal_stored_bytes')
  }

  #read(): Reading {
    const { server, postgres } = cpuSeconds(this.#server)
    const { cores } = this.#options
    const cpu = server + postgres
    return {
      ms: machineMs(),
      cpu,
      core: cores.server === null ? cpu : coreSeconds(cores.server),
      mainThread: mainThreadSeconds(this.#server.pid),
      postgres,
    }
  }

  #sharesSince(before: Reading): CpuShares {
    const { cpu, mainThread, postgres } = this.#read()
    const ofMain = mainThread - before.mainThread
    const ofPostgres = postgres - before.postgres
    return {
      mainThread: ofMain,
      otherThreads: Math.max(0, cpu - before.cpu - ofMain - ofPostgres),
      postgres: ofPostgres,
    }
  }

  #since(before: Reading): Duration {
    const { ms, cpu, core } = this.#read()
    const cpuTaken = cpu - before.cpu
    return {
      seconds: (ms - before.ms) / 1000,
      cpuSeconds: cpuTaken,
      stolenSeconds: Math.max(0, core - before.core - cpuTaken),
    }
  }
}

/** Size of a file and of those whose names go on from it. */
function fileBytes(folder: string, name: string): number {
  return readdirSync(folder)
    .filter((one) => one.startsWith(name))
    .reduce((sum, one) => sum + statSync(join(folder, one)).size, 0)
}
