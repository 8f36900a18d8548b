// Runs in Postgres, as whoever works on one sees them. Every statement that moves a run asks whether it still runs:
// once it was cancelled, or deleted with its export or project, nothing moves it any more.

import type { Session } from '../postgres/pool.ts'
import type { DeliveredChunk, Model } from './delivery.ts'
import type { StoredDestination } from './stored-destination.ts'

/** A run with what it needs to know of its export. */
export interface RunRow extends StoredDestination {
  readonly id: string
  readonly batch_export_id: string
  readonly backfill_id: string | null
  readonly project_id: number
  readonly organization_id: string
  readonly status: string
  readonly model: Model
  readonly data_interval_start: string | null
  readonly data_interval_end: string
  readonly stretch_start: string | null
  readonly stretch_end: string
  readonly cursor: string | null
  /** Where the chunk behind `cursor` ends that may be at its destination already. */
  readonly sent_to: string | null
  readonly shape: string | null
  readonly started_at: string | null
  readonly failing_since: string | null
  readonly attempts: number
  readonly crashes: number
  readonly is_at_work: boolean
  readonly records_completed: number | null
  readonly bytes_exported: number | null
  readonly hogql_query: string | null
  readonly filters: unknown
  readonly chunk_count: number
  /** True when another run, of an interval that overlaps, has begun. */
  readonly has_forerunner: boolean
  /** What other runs of this interval may have delivered. */
  readonly earlier_chunk_count: number
  /** The end of the last interval that the schedule has a run for. */
  readonly planned_until: string | null
}

/** Statuses of runs that go on. */
export const openStatuses = ['Starting', 'Running'] as const
export type ClosedStatus =
  | 'Cancelled'
  | 'Completed'
  | 'ContinuedAsNew'
  | 'Failed'
  | 'FailedRetryable'
  | 'Terminated'
  | 'TimedOut'

export type LogLevel = 'INFO' | 'WARNING' | 'ERROR'

export function isOpen(run: Pick<RunRow, 'status'>): boolean {
  return openStatuses.some((status) => status === run.status)
}

/** Null for one that is gone. */
export async function loadRun(session: Session, id: string): Promise<RunRow | null> {
  const { rows } = await session.query<RunRow>(
    `select run.*, organization_id, model, destination_type, destination_config, destination_secrets, hogql_query,
       filters, planned_until,
       (select count(*) from batch_export_chunk where run_id = run.id) as chunk_count,
       has_forerunner, earlier_chunk_count
     from batch_export_run run
     join batch_export on batch_export.id = run.batch_export_id
     join project on project.id = run.project_id
     cross join lateral (
       -- A chunk may be at its destination before it is remembered here.
       select count(*) > 0 as has_forerunner, coalesce(max(
           (select count(*) from batch_export_chunk where run_id = other.id)
             + case other.status when 'Completed' then 0 else 1 end
         ) filter (where other.data_interval_end = run.data_interval_end
           and other.data_interval_start is not distinct from run.data_interval_start), 0) as earlier_chunk_count
       from batch_export_run other
       where other.batch_export_id = run.batch_export_id and other.id <> run.id and other.started_at is not null
         and other.data_interval_end > coalesce(run.data_interval_start, '-infinity')
         and coalesce(other.data_interval_start, '-infinity') < run.data_interval_end
     ) earlier
     where run.id = $1`,
    [id],
  )
  return rows[0] ?? null
}

/** Begins an attempt. False when the run does not go on. */
export async function beginAttempt(
  session: Session,
  run: RunRow,
  change: { readonly shape: string; readonly isCrashed: boolean; readonly total: number | null },
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await session.query(
    `update batch_export_run set status = 'Running', is_at_work = true, shape = $2,
       crashes = crashes + $3::integer, started_at = coalesce(started_at, to_timestamp($4)),
       records_completed = coalesce(records_completed, 0), bytes_exported = coalesce(bytes_exported, 0),
       records_total_count = coalesce(records_total_count, $5), last_updated_at = to_timestamp($4)
     where id = $1 and status = any ($6)`,
    [run.id, change.shape, change.isCrashed ? 1 : 0, nowMs / 1000, change.total, openStatuses],
  )
  return rowCount > 0
}

/** Remembers that what follows the cursor, up to `end`, is about to be delivered. False when the run has ended. */
export async function markSent(
  session: Session,
  run: Pick<RunRow, 'id'>,
  end: string,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await session.query(
    `update batch_export_run set sent_to = $2, last_updated_at = to_timestamp($3)
     where id = $1 and status = 'Running'`,
    [run.id, end, nowMs / 1000],
  )
  return rowCount > 0
}

/** Remembers that everything up to `cursor` is delivered; `chunk` is null when that was no row. */
export async function commitChunk(
  session: Session,
  run: Pick<RunRow, 'id' | 'project_id'>,
  cursor: string,
  chunk: DeliveredChunk | null,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await session.query(
    `update batch_export_run set cursor = $2, sent_to = null, records_completed = records_completed + $3,
       bytes_exported = bytes_exported + $4, attempts = 0, crashes = 0, failing_since = null,
       last_updated_at = to_timestamp($5)
     where id = $1 and status = 'Running'`,
    [run.id, cursor, chunk?.recordCount ?? 0, chunk?.bytes ?? 0, nowMs / 1000],
  )
  if (rowCount === 0) return false
  if (chunk === null) return true
  await session.query(
    `insert into batch_export_chunk (run_id, index, project_id, record_count, bytes) values ($1, $2, $3, $4, $5)`,
    [run.id, chunk.index, run.project_id, chunk.recordCount, chunk.bytes],
  )
  return true
}

export async function loadChunks(session: Session, runId: string): Promise<DeliveredChunk[]> {
  const { rows } = await session.query<DeliveredChunk>(
    `select index, record_count as "recordCount", bytes from batch_export_chunk where run_id = $1 order by index`,
    [runId],
  )
  return rows
}

/** Ends a run. False when it had ended already. */
export async function closeRun(
  session: Session,
  runId: string,
  status: ClosedStatus,
  error: string | null,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await session.query(
    `update batch_export_run set status = $2, latest_error = $3, is_at_work = false,
       finished_at = to_timestamp($4), last_updated_at = to_timestamp($4)
     where id = $1 and status = any ($5)`,
    [runId, status, error, nowMs / 1000, openStatuses],
  )
  return rowCount > 0
}

/** Ends an attempt before another; one without an error does not count. Null when the run has ended. */
export async function endAttempt(
  session: Session,
  runId: string,
  error: string | null,
  nowMs: number,
): Promise<{ readonly attempts: number; readonly failingSinceMs: number } | null> {
  const { rows } = await session.query<{ attempts: number; failing_since: string | null }>(
    `update batch_export_run set is_at_work = false, latest_error = coalesce($2, latest_error),
       failing_since = case when $2::text is null then failing_since
         else coalesce(failing_since, to_timestamp($3)) end,
       attempts = attempts + case when $2::text is null then 0 else 1 end, last_updated_at = to_timestamp($3)
     where id = $1 and status = any ($4)
     returning attempts, failing_since`,
    [runId, error, nowMs / 1000, openStatuses],
  )
  const row = rows[0]
  if (row === undefined) return null
  return {
    attempts: row.attempts,
    failingSinceMs: row.failing_since === null ? nowMs : Date.parse(row.failing_since),
  }
}

/** Says something to whoever reads the log of the export. */
export async function logRun(
  session: Session,
  run: Pick<RunRow, 'id' | 'project_id' | 'batch_export_id'>,
  level: LogLevel,
  message: string,
  nowMs: number,
): Promise<void> {
  await session.query(
    `insert into batch_export_log (project_id, batch_export_id, instance_id, level, message, timestamp)
     values ($1, $2, $3, $4, $5, to_timestamp($6))`,
    [run.project_id, run.batch_export_id, run.id, level, message, nowMs / 1000],
  )
}
