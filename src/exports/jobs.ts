// Jobs: rows in the schema `spate_jobs` of Postgres, kept by graphile-worker, one for each run that goes on. A job is
// added in the transaction that makes its run, or that says when the run is tried again, so neither is without the
// other. Runs of one export, and of one backfill, share a queue: they go one after the other.
//
// A job that a killed process held would stay locked for hours. This process is the only one that works here (the
// journal's lineage sees to that), so whatever is locked when it starts is let go.

import { Logger, runMigrations, run as startRunner } from 'graphile-worker'
import type { Session } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'

export interface Job {
  readonly runId: string
  readonly queue: string
  readonly isBackfill: boolean
}

export interface JobsOptions {
  readonly connectionString: string
  readonly log: Log
  /** Runs at once. */
  readonly concurrency: number
  readonly pollMs: number
  /** Works on a run until it has ended or was put off. What it throws puts the job off as well. */
  readonly work: (runId: string) => Promise<void>
}

export interface Jobs {
  /** Settles when jobs are no longer worked on: the database was away for long, or `close` was called. */
  readonly ended: Promise<void>
  /** Waits for what is being worked on. */
  close(): Promise<void>
}

const schema = 'spate_jobs'
const task = 'export_run'
/** What runs by the clock goes before what was asked for once. */
const priorities = { schedule: 0, backfill: 10 }
/** Whether a run is tried again is said in its row; a job only ends with it. */
const attemptsMax = 32_000
/** For graphile-worker itself; the tasks use connections of the pool. */
const connectionsMax = 4

/** Lets a run be worked on `delayMs` from now; a job that it has already is moved there. */
export async function addJob(session: Session, job: Job, delayMs = 0): Promise<void> {
  await session.query(
    `select from ${schema}.add_job($1, $2::json, queue_name => $3, run_at => now() + $4 * interval '1 millisecond',
       max_attempts => $5, job_key => $6, priority => $7)`,
    [
      task,
      JSON.stringify({ runId: job.runId }),
      job.queue,
      delayMs,
      attemptsMax,
      keyOf(job.runId),
      job.isBackfill ? priorities.backfill : priorities.schedule,
    ],
  )
}

/** Of `runIds` those that no job stands for. */
export async function withoutJob(session: Session, runIds: readonly string[]): Promise<string[]> {
  const { rows } = await session.query<{ id: string }>(
    `select id from unnest($1::text[]) as run (id)
     where not exists (select from ${schema}.jobs where key = 'run:' || run.id)`,
    [runIds],
  )
  return rows.map(({ id }) => id)
}

/** Starts working on jobs. Errors: whatever keeps the database from being reached. */
export async function openJobs(session: Session, options: JobsOptions): Promise<Jobs> {
  const { connectionString, log, concurrency, pollMs, work } = options
  const logger = new Logger(() => (level, message) => {
    // It tells of every job; of ours, exports do. What goes wrong inside comes back.
    log.debug({ level }, `jobs: ${message}`)
  })
  const shared = { connectionString, schema, logger, maxPoolSize: connectionsMax }
  await runMigrations(shared)
  await session.query(
    `select ${schema}.force_unlock_workers(array(
       select distinct locked_by from ${schema}.jobs where locked_by is not null))`,
  )
  const runner = await startRunner({
    ...shared,
    noHandleSignals: true,
    concurrency,
    pollInterval: pollMs,
    taskList: { [task]: (payload) => work(runIdOf(payload)) },
    crontab: '',
  })
  const ended = runner.promise.catch((error: unknown) => {
    log.warn({ err: error }, 'exports: jobs are no longer worked on')
  })
  return {
    ended,
    async close() {
      await runner.stop().catch(() => {}) // it has ended by itself
      await ended
    },
  }
}

function keyOf(runId: string): string {
  return `run:${runId}`
}

function runIdOf(payload: unknown): string {
  return String((payload as { runId: unknown }).runId) // written by addJob
}
