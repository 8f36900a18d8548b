// Jobs: rows in the schema `spate_jobs` of Postgres, kept by graphile-worker, one for each run that goes on. A job is
// added in the transaction that makes its run, or that says when the run is tried again, so neither is without the
// other. Runs of one export, and of one backfill, share a queue: they go one after the other.
//
// A job that a killed process held would stay locked for hours. This process is the only one that works here (the
// journal's lineage sees to that), so whatever is locked when it starts is let go.
//
// Only graphile-worker's list of tasks runs here. Its runner would add a clock for jobs by the calendar, whose pauses
// after an error, of up to a minute, a stop has to wait for; and its own pool waits for connections without limit.

import { openLentPool } from '../postgres/lent-pool.ts'
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
  /** Resolves when jobs are no longer worked on: the end of one could not be written, or `close` was called. */
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
/**
 * Ends of jobs are written in batches, if only of one: without them graphile-worker does not look whether the write has
 * failed, and Postgres being away at that moment would end the process with an unhandled rejection.
 */
const preset = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } }

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
  // Slow to load, and nobody waits for it.
  const { Logger, runMigrations, runTaskList } = await import('graphile-worker')
  const logger = new Logger(() => (level, message) => {
    // It tells of every job; of ours, exports do. What goes wrong inside comes back.
    log.debug({ level }, `jobs: ${message}`)
  })
  const pgPool = openLentPool({ connectionString, connectionsMax, log })
  const shared = { pgPool, schema, logger, preset }
  try {
    await runMigrations(shared)
    await session.query(
      `select ${schema}.force_unlock_workers(array(
         select distinct locked_by from ${schema}.jobs where locked_by is not null))`,
    )
  } catch (error) {
    await pgPool.end()
    throw error
  }
  const tasks = { [task]: (payload: unknown) => work(runIdOf(payload)) }
  const settings = { ...shared, noHandleSignals: true, concurrency, pollInterval: pollMs }
  const workers = runTaskList(settings, tasks, pgPool)
  const ended = workers.promise
    .catch((error: unknown) => log.warn({ err: error }, 'exports: jobs are no longer worked on'))
    .then(() => pgPool.end())
  return {
    ended,
    async close() {
      await Promise.resolve(workers.gracefulShutdown()).catch(() => {}) // `ended` has told of it
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
