// Works on runs as jobs: one attempt, and what comes of it. Never two at once for one interval of an export; where rows
// take the place of others, never two at once for intervals that overlap.

import { isServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import type { Span } from './interval.ts'
import { addJob } from './jobs.ts'
import { jobOf, planAnew } from './plan.ts'
import { attemptRun, type Outcome, type RunRooms } from './run.ts'
import { type ClosedStatus, closeRun, endAttempt, isOpen, loadRun, logRun, type RunRow } from './run-rows.ts'
import { RunStopped, setbackOf } from './setback.ts'

export interface WorkerOptions extends RunRooms {
  readonly log: Log
  /** The wait before another attempt, by how many there were. */
  readonly retryMs: (attempts: number) => number
}

/** What has been done since this start. */
export interface WorkerCounts {
  readonly records: number
  readonly bytes: number
  readonly closed: Readonly<Partial<Record<ClosedStatus, number>>>
  readonly setbacks: number
}

interface Active {
  readonly run: RunRow
  readonly stop: AbortController
}

/** A run waits this long for another that it must not go beside. */
const besideMs = 5_000
const failingMsMax = 3 * 24 * 3_600_000

export class RunWorker {
  readonly #options: WorkerOptions
  readonly #active = new Map<string, Active>()
  readonly #closed: Partial<Record<ClosedStatus, number>> = {}
  #isClosing = false
  #records = 0
  #bytes = 0
  #setbacks = 0

  constructor(options: WorkerOptions) {
    this.#options = options
  }

  /** Ids of the runs that are worked on now. */
  get active(): readonly string[] {
    return [...this.#active.keys()]
  }

  get counts(): WorkerCounts {
    return {
      records: this.#records,
      bytes: this.#bytes,
      closed: { ...this.#closed },
      setbacks: this.#setbacks,
    }
  }

  /** Stops working on a run that was cancelled or deleted. */
  cancel(runId: string): void {
    this.#active.get(runId)?.stop.abort(new RunStopped('cancelled'))
  }

  /** Stops working on those that were cancelled or deleted while nobody listened. */
  async check(): Promise<void> {
    for (const id of this.#active.keys()) {
      const run = await loadRun(this.#options.postgres, id).catch(() => undefined)
      // Unknown: its next commit will tell.
      if (run !== undefined && (run === null || !isOpen(run))) this.cancel(id)
    }
  }

  /** Puts off what is being worked on, and whatever comes. */
  close(): void {
    this.#isClosing = true
    for (const { stop } of this.#active.values()) stop.abort(new RunStopped('closing'))
  }

  /** Works on a run until it has ended or was put off. Errors: postgres_unavailable. */
  async work(runId: string): Promise<RunRow | null> {
    const { postgres } = this.#options
    const found = await loadRun(postgres, runId)
    if (found === null || !isOpen(found)) return null
    const isTaken = [...this.#active.values()].some((active) => this.#isApart(active.run, found))
    if (isTaken || this.#active.has(runId) || this.#isClosing) {
      await addJob(postgres, jobOf(runId, found.batch_export_id, found.backfill_id), besideMs)
      return null
    }
    const stop = new AbortController()
    this.#active.set(runId, { run: found, stop })
    let run = found
    try {
      // Another that it has to know of may have ended between the answer and now.
      const current = await loadRun(postgres, runId)
      if (current === null || !isOpen(current)) return null
      run = current
      await this.#end(run, await attemptRun(this.#options, run, stop.signal))
    } catch (error) {
      await this.#setBack(run, error)
    } finally {
      this.#active.delete(runId)
    }
    return run
  }

  /** True for two runs of which one has to wait for the other. */
  #isApart(one: RunRow, other: RunRow): boolean {
    if (one.batch_export_id !== other.batch_export_id) return false
    const { startMs, endMs } = spanOf(one)
    const second = spanOf(other)
    if (startMs === second.startMs && endMs === second.endMs) return true
    const isReplacing = [one, other].some(
      ({ destination_type }) => this.#options.destinations[destination_type].isReplacing,
    )
    return isReplacing && startMs < second.endMs && second.startMs < endMs
  }

  async #end(run: RunRow, outcome: Outcome): Promise<void> {
    switch (outcome.kind) {
      case 'completed': {
        const said = `Completed: ${outcome.records} records, ${outcome.bytes} bytes.`
        await this.#close(run, 'Completed', 'INFO', said)
        this.#records += outcome.records - (run.records_completed ?? 0)
        this.#bytes += outcome.bytes - (run.bytes_exported ?? 0)
        break
      }
      case 'terminated':
        await this.#close(
          run,
          'Terminated',
          'ERROR',
          'The server has ended five times while it worked on this run.',
        )
        break
      case 'changed': {
        const plan = await planAnew(this.#options, run, this.#options.clock.nowMs())
        const said =
          'The export was changed after a part may have been delivered: a new run begins from the start.'
        await this.#close(run, 'ContinuedAsNew', 'INFO', said, plan)
        break
      }
      case 'over':
        break
    }
  }

  async #setBack(run: RunRow, error: unknown): Promise<void> {
    const { postgres, clock, log } = this.#options
    const nowMs = clock.nowMs()
    const job = jobOf(run.id, run.batch_export_id, run.backfill_id)
    if (error instanceof RunStopped) {
      if (error.why === 'timed out')
        await this.#close(run, 'TimedOut', 'ERROR', 'The run was not complete a week after it began.')
      // Its job is there again at the next start; the attempt does not count.
      if (error.why === 'closing')
        await postgres.transaction(async (session) => {
          if ((await endAttempt(session, run.id, null, nowMs)) !== null) await addJob(session, job)
        })
      return
    }
    this.#setbacks++
    const { isTemporary, sentence } = setbackOf(error)
    if (!isServiceError(error)) log.warn({ err: error, run: run.id }, 'exports: an attempt has failed')
    if (!isTemporary) return await this.#close(run, 'Failed', 'ERROR', sentence)
    const isGivenUp = await postgres.transaction(async (session) => {
      const ended = await endAttempt(session, run.id, sentence, nowMs)
      if (ended === null) return false
      if (nowMs - ended.failingSinceMs > failingMsMax) return true
      const waitMs = this.#options.retryMs(ended.attempts)
      await logRun(session, run, 'WARNING', `${sentence} Tried again in ${waitMs / 1000} s.`, nowMs)
      await addJob(session, job, waitMs)
      return false
    })
    if (isGivenUp) await this.#close(run, 'FailedRetryable', 'ERROR', sentence)
  }

  async #close(
    run: RunRow,
    status: ClosedStatus,
    level: 'INFO' | 'ERROR',
    message: string,
    also: (session: Session) => Promise<void> = async () => {},
  ): Promise<void> {
    const { postgres, clock } = this.#options
    const nowMs = clock.nowMs()
    const error = level === 'ERROR' ? message : null
    const isClosed = await postgres.transaction(async (session) => {
      if (!(await closeRun(session, run.id, status, error, nowMs))) return false
      await logRun(session, run, level, message, nowMs)
      await also(session)
      return true
    })
    if (isClosed) this.#closed[status] = (this.#closed[status] ?? 0) + 1
  }
}

function spanOf(run: RunRow): Span {
  const start = run.data_interval_start
  return {
    startMs: start === null ? Number.NEGATIVE_INFINITY : Date.parse(start),
    endMs: Date.parse(run.data_interval_end),
  }
}
