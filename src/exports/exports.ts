// Batch exports that run: plans what is due, works on runs as jobs, and ends those that were cancelled.
//
// It depends on Postgres being there and on nothing else: while it is away nothing is planned and nothing moves, and
// jobs are taken up again by themselves. Everything that decides is in Postgres, so a restart goes on where it was.

import { setTimeout as delay } from 'node:timers/promises'
import { exportsDirOf } from '../data-dir.ts'
import { GivingWay } from '../events/giving-way.ts'
import type { Journal } from '../journal/journal.ts'
import type { Listening } from '../postgres/listener.ts'
import { builtDestinations } from './built-destinations.ts'
import { chunkRowsMax } from './extraction.ts'
import { isIngestingBy } from './intake.ts'
import { addJob, type Jobs, openJobs, withoutJob } from './jobs.ts'
import { jobOf, planRuns } from './plan.ts'
import { prune } from './prune.ts'
import { openStatuses } from './run-rows.ts'
import { RunWorker, type WorkerCounts, type WorkerOptions } from './run-worker.ts'
import { retryMs } from './setback.ts'
import { Staging } from './staging.ts'

type Tuned = 'chunkRowsMax' | 'retryMs' | 'destinations'

export interface ExportsOptions
  extends Omit<WorkerOptions, Tuned | 'staging' | 'givingWay'>,
    Partial<Pick<WorkerOptions, Tuned>> {
  /** Resolves once the database can be used. */
  readonly connectionString: Promise<string>
  readonly dataDir: string
  /** How long lines of logs are kept. */
  readonly logDays: number
  /** What comes in: exports give way to it. */
  readonly journal: Pick<Journal, 'state'>
  /** How often to look for what is due, and for jobs. */
  readonly tickMs?: number
}

export interface ExportsState extends WorkerCounts {
  /** Runs that are worked on now. */
  readonly running: number
  /** Why nothing is exported; null while all is well. */
  readonly reason: string | null
}

export interface Exports {
  state(): ExportsState
  /** Plans what is due now, and sees to it that open runs have a job. Errors: those of the stores. */
  tick(): Promise<void>
  /** Puts off what is running and stops. */
  close(): Promise<void>
}

const runsAtOnce = 2
const tickMsDefault = 5_000
const restartMs = 5_000
const pruneMs = 3_600_000

export function openExports(options: ExportsOptions): Exports {
  return new ExportsRunner(options)
}

class ExportsRunner implements Exports {
  readonly #options: ExportsOptions
  readonly #staging: Staging
  readonly #worker: RunWorker
  readonly #closing = new AbortController()
  readonly #ready: Promise<void>
  #jobs: Jobs | null = null
  #starting: Promise<void> = Promise.resolve()
  #listening: Listening | null = null
  #ticking: Promise<void> = Promise.resolve()
  #reason: string | null = null
  #prunedMs = Number.NEGATIVE_INFINITY

  constructor(options: ExportsOptions) {
    this.#options = options
    this.#staging = new Staging(exportsDirOf(options.dataDir))
    const tuned = { chunkRowsMax, retryMs, destinations: builtDestinations, ...options }
    const ingestedBytes = (): number => {
      const { realtime, historical } = options.journal.state().lanes
      return realtime.committed + historical.committed
    }
    const isIngesting = isIngestingBy(ingestedBytes, options.clock)
    const givingWay = new GivingWay({ clock: options.clock, isIngesting })
    this.#worker = new RunWorker({ ...tuned, staging: this.#staging, givingWay })
    this.#ready = this.#open()
  }

  state(): ExportsState {
    return { ...this.#worker.counts, running: this.#worker.active.length, reason: this.#reason }
  }

  tick(): Promise<void> {
    const tick = this.#ticking.then(() => this.#tick())
    this.#ticking = tick.catch(() => {}) // told to whoever asked
    return tick
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#worker.close()
    await this.#ready // what it opens is known then
    await this.#listening?.close()
    await this.#ticking
    await this.#starting
    await this.#jobs?.close()
  }

  /** Never rejects: what fails is tried again until the end. */
  async #open(): Promise<void> {
    const { connectionString, postgres, log } = this.#options
    const closing = this.#closing.signal
    try {
      await this.#staging.clear()
      const found = await Promise.race([connectionString, aborted(closing)])
      if (found === null || closing.aborted) return
      this.#listening = postgres.listen('batch_export', (payload) => this.#heard(payload))
      this.#starting = this.#startJobs(found)
      await this.#starting
      void this.#keepTicking()
    } catch (error) {
      // The database never comes: whoever waits for it says why. Anything else is a folder that cannot be made.
      if (!closing.aborted) log.error({ err: error }, 'exports: not running')
      this.#reason = 'exports could not be started'
    }
  }

  async #startJobs(connectionString: string): Promise<void> {
    const { postgres, log, tickMs = tickMsDefault } = this.#options
    while (!this.#closing.signal.aborted) {
      try {
        const jobs = await openJobs(postgres, {
          connectionString,
          log,
          concurrency: runsAtOnce,
          pollMs: tickMs,
          work: (runId) => this.#work(runId),
        })
        this.#jobs = jobs
        this.#reason = null
        // A database that is away when a job ends, ends them all.
        void jobs.ended.then(() => {
          this.#starting = this.#startJobs(connectionString)
        })
        return
      } catch (error) {
        log.warn({ err: error }, 'exports: jobs could not be started and are tried again')
        this.#reason = 'jobs cannot be worked on'
        await sleep(restartMs, this.#closing.signal)
      }
    }
  }

  async #keepTicking(): Promise<void> {
    const { log, tickMs = tickMsDefault } = this.#options
    while (!this.#closing.signal.aborted) {
      await this.tick().catch((error: unknown) => log.debug({ err: error }, 'exports: nothing was planned'))
      await sleep(tickMs, this.#closing.signal)
    }
  }

  async #tick(): Promise<void> {
    const { postgres, clock, logDays } = this.#options
    // A run is not made without its job, so jobs come first.
    await this.#ready
    if (this.#closing.signal.aborted || this.#jobs === null) return
    const nowMs = clock.nowMs()
    await planRuns(this.#options, nowMs, this.#closing.signal)
    if (nowMs - this.#prunedMs >= pruneMs) {
      await prune(postgres, logDays, nowMs)
      this.#prunedMs = nowMs
    }
    const { rows } = await postgres.query<{
      id: string
      batch_export_id: string
      backfill_id: string | null
    }>(`select id, batch_export_id, backfill_id from batch_export_run where status = any ($1)`, [
      openStatuses,
    ])
    const ids = rows.map(({ id }) => id).filter((id) => !this.#worker.active.includes(id))
    for (const id of await withoutJob(postgres, ids)) {
      const row = rows.find((one) => one.id === id)
      if (row !== undefined) await addJob(postgres, jobOf(id, row.batch_export_id, row.backfill_id))
    }
  }

  async #work(runId: string): Promise<void> {
    const run = await this.#worker.work(runId)
    if (run !== null && run.backfill_id !== null) this.#wake()
  }

  #heard(payload: string | null): void {
    if (payload === null) void this.#worker.check()
    else if (payload === 'plan') this.#wake()
    else this.#worker.cancel(payload)
  }

  /** Looks for what is due before the time. */
  #wake(): void {
    this.tick().catch(() => {}) // the next one comes by itself
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => {}) // woken
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null))
  })
}
