// Makes runs of intervals that have ended: those of the schedule of every export, and those of backfills.
//
// The schedule's stretches abut: each begins where the last one ended. Where intervals were left out, because the
// export was paused, is new, or its start_at was put off, a stretch begins with its interval instead.
//
// A backfill makes a run for every whole interval that its span touches, one after the other, so that its files are
// those of the schedule, and nothing lies in two of them. Where the schedule has run the very interval, its stretch is
// taken again. What had not ended when the backfill was made is left to the schedule, whatever the backfill's end.
// Without a start it is one run from the beginning of everything.

import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'
import { isOfModel } from './boundary.ts'
import type { Model } from './delivery.ts'
import { boundaryBefore, countWithin, dueSpans, type Interval, type Span, wholeSpans } from './interval.ts'
import { addJob } from './jobs.ts'
import { openStatuses, type RunRow } from './run-rows.ts'
import { boundaryAt, type PlanRooms, pastStretch, type Stretch } from './stretch.ts'

interface ExportRow {
  readonly id: string
  readonly project_id: number
  readonly model: Model
  readonly interval: Interval
  readonly timezone: string
  readonly paused: boolean
  readonly created_at: string
  readonly start_at: string | null
  readonly end_at: string | null
  readonly planned_until: string | null
  readonly planned_end: string | null
  readonly stopped_at: string | null
  readonly resumed_at: string | null
}

interface BackfillRow {
  readonly id: string
  readonly batch_export_id: string
  readonly start_at: string | null
  readonly end_at: string | null
  readonly created_at: string
}

/** Runs of one export made at a time: after a long stop the others shall not wait. */
const spansMax = 100

const exportColumns = `batch_export.id, project_id, model, interval, timezone, paused, batch_export.created_at,
  start_at, end_at, planned_until, planned_end, stopped_at, resumed_at`

/**
 * Makes what is due at `nowMs`, as far as `closing` lets it. Returns how many runs it made.
 * Errors: postgres_unavailable, events_unavailable.
 */
export async function planRuns(rooms: PlanRooms, nowMs: number, closing: AbortSignal): Promise<number> {
  let made = 0
  const { rows } = await rooms.postgres.query<ExportRow>(
    `select ${exportColumns} from batch_export join project on project.id = project_id
     where not paused or stopped_at is not null`,
  )
  for (const row of rows) {
    for (const span of dueOf(row, nowMs)) {
      if (closing.aborted) return made
      made += await planSpan(rooms, row.id, span, nowMs)
    }
  }
  const { rows: backfills } = await rooms.postgres.query<BackfillRow>(
    `select id, batch_export_id, start_at, end_at, created_at from batch_export_backfill
     where finished_at is null order by created_at, id`,
  )
  for (const backfill of backfills) {
    if (closing.aborted) return made
    made += await planBackfill(rooms, backfill, nowMs)
  }
  return made
}

/** Intervals of the schedule that have ended, while it was not paused, and have no run. */
function dueOf(row: ExportRow, nowMs: number): Span[] {
  const { interval, timezone: timeZone, start_at, end_at } = row
  const afterMs = Math.max(Date.parse(row.created_at), msOf(row.planned_until) ?? 0)
  const schedule = { interval, timeZone, startAtMs: msOf(start_at), endAtMs: msOf(end_at) }
  const stoppedMs = msOf(row.stopped_at)
  const resumedMs = msOf(row.resumed_at) ?? 0
  const due = (fromMs: number, untilMs: number): Span[] =>
    dueSpans(schedule, Math.max(afterMs, fromMs), Math.min(untilMs, nowMs), spansMax)
  if (stoppedMs === null) return row.paused ? [] : due(resumedMs, nowMs)
  // It may have been paused before anybody looked for what was due.
  if (row.paused) return due(resumedMs, stoppedMs)
  const before = due(0, stoppedMs)
  return [...before, ...due(Math.max(resumedMs, before.at(-1)?.endMs ?? 0), nowMs)]
}

async function planSpan(rooms: PlanRooms, exportId: string, span: Span, nowMs: number): Promise<number> {
  const { postgres } = rooms
  const { rows: seen } = await postgres.query<ExportRow>(
    `select ${exportColumns} from batch_export join project on project.id = project_id where batch_export.id = $1`,
    [exportId],
  )
  const before = seen[0]
  if (before === undefined) return 0
  const { start, end } = await nextStretch(rooms, before, span)
  return postgres.transaction(async (session) => {
    const { rowCount } = await session.query(
      `update batch_export set planned_until = to_timestamp($2), planned_end = $3
       where id = $1 and (not paused or stopped_at >= to_timestamp($2))
         and planned_until is not distinct from $4::timestamptz
         and resumed_at is not distinct from $5::timestamptz and model = $6`,
      [exportId, span.endMs / 1000, end, before.planned_until, before.resumed_at, before.model],
    )
    if (rowCount === 0) return 0 // paused or deleted meanwhile, or planned by a restart
    await insertRun(session, before, { ...span, start, end, backfillId: null }, nowMs)
    return 1
  })
}

/** What the schedule's next run takes. */
async function nextStretch(rooms: PlanRooms, row: ExportRow, span: Span): Promise<Stretch> {
  const untilMs = msOf(row.planned_until)
  const isNext = untilMs !== null && span.startMs <= untilMs && isOfModel(row.model, row.planned_end)
  const start = isNext ? row.planned_end : await boundaryAt(rooms, row, span.startMs)
  return { start, end: await boundaryAt(rooms, row, span.endMs) }
}

interface PlannedRun {
  readonly startMs: number | null
  readonly endMs: number
  readonly start: string | null
  readonly end: string
  readonly backfillId: string | null
}

async function insertRun(
  session: Session,
  { id: exportId, project_id }: Pick<ExportRow, 'id' | 'project_id'>,
  { startMs, endMs, start, end, backfillId }: PlannedRun,
  nowMs: number,
): Promise<void> {
  const runId = makeUuidV7(nowMs)
  await session.query(
    `insert into batch_export_run (id, project_id, batch_export_id, backfill_id, status, data_interval_start,
       data_interval_end, stretch_start, stretch_end, created_at, last_updated_at)
     values ($1, $2, $3, $4, 'Starting', to_timestamp($5), to_timestamp($6), $7, $8, to_timestamp($9),
       to_timestamp($9))`,
    [
      runId,
      project_id,
      exportId,
      backfillId,
      startMs === null ? null : startMs / 1000,
      endMs / 1000,
      start,
      end,
      nowMs / 1000,
    ],
  )
  await addJob(session, jobOf(runId, exportId, backfillId))
}

/** The job of a run: runs of an export wait for each other, and so do those of a backfill. */
export function jobOf(runId: string, exportId: string, backfillId: string | null) {
  const queue = backfillId === null ? `export:${exportId}` : `backfill:${backfillId}`
  return { runId, queue, isBackfill: backfillId !== null }
}

async function planBackfill(rooms: PlanRooms, backfill: BackfillRow, nowMs: number): Promise<number> {
  const { postgres } = rooms
  const { rows } = await postgres.query<
    ExportRow & { last_end: string | null; open_count: number; worst: string | null }
  >(
    `select ${exportColumns}, last_end, open_count, worst
     from batch_export join project on project.id = project_id cross join lateral (
       select max(data_interval_end) as last_end, count(*) filter (where finished_at is null) as open_count,
         min(status) filter (where status in ('Failed', 'FailedRetryable', 'Terminated', 'TimedOut')) as worst
       from batch_export_run where backfill_id = $2
     ) made where batch_export.id = $1`,
    [backfill.batch_export_id, backfill.id],
  )
  const row = rows[0]
  if (row === undefined || row.open_count > 0) return 0
  // What one interval could not be exported with, the next one would meet as well.
  if (row.worst !== null) return endBackfill(postgres, backfill.id, row.worst, nowMs)
  const next = nextOf(row, backfill, msOf(row.last_end))
  const total = totalOf(row, backfill)
  if (next === null) return endBackfill(postgres, backfill.id, 'Completed', nowMs, total)
  const { startMs, endMs } = next
  const { start, end } = await pastStretch(rooms, row, next)
  return postgres.transaction(async (session) => {
    const { rowCount } = await session.query(
      `update batch_export_backfill set status = 'Running', last_updated_at = to_timestamp($2),
         total_runs = coalesce($3, total_runs)
       where id = $1 and status = any ($4)`,
      [backfill.id, nowMs / 1000, total, openStatuses],
    )
    if (rowCount === 0) return 0
    await insertRun(session, row, { startMs, endMs, start, end, backfillId: backfill.id }, nowMs)
    return 1
  })
}

/** The next interval of a backfill after those that end at `lastMs`; null when there is none left. */
function nextOf(
  { interval, timezone }: ExportRow,
  { start_at, end_at, created_at }: BackfillRow,
  lastMs: number | null,
): { readonly startMs: number | null; readonly endMs: number } | null {
  const madeMs = Date.parse(created_at)
  const endedMs = boundaryBefore(interval, timezone, madeMs)
  if (start_at === null && lastMs === null) {
    const endMs = end_at === null ? endedMs : Math.min(Date.parse(end_at), madeMs)
    return { startMs: null, endMs }
  }
  if (start_at === null) return null
  const fromMs = lastMs ?? Date.parse(start_at)
  const [span] = wholeSpans(interval, timezone, { startMs: fromMs, endMs: msOf(end_at) ?? endedMs }, 1)
  return span === undefined || span.endMs > endedMs ? null : span
}

function totalOf({ interval, timezone }: ExportRow, { start_at, end_at, created_at }: BackfillRow) {
  if (start_at === null) return 1
  const endedMs = boundaryBefore(interval, timezone, Date.parse(created_at))
  const endMs = Math.min(msOf(end_at) ?? endedMs, endedMs)
  return countWithin(interval, timezone, { startMs: Date.parse(start_at), endMs })
}

/** A run that takes the interval of `run` from its start, as the export is now. */
export async function planAnew(
  rooms: PlanRooms,
  run: Pick<RunRow, 'batch_export_id' | 'backfill_id' | 'data_interval_start' | 'data_interval_end'>,
  nowMs: number,
): Promise<(session: Session) => Promise<void>> {
  const { rows } = await rooms.postgres.query<ExportRow>(
    `select ${exportColumns} from batch_export join project on project.id = project_id where batch_export.id = $1`,
    [run.batch_export_id],
  )
  const row = rows[0]
  if (row === undefined) return async () => {}
  const span = { startMs: msOf(run.data_interval_start), endMs: Date.parse(run.data_interval_end) }
  const stretch = await pastStretch(rooms, row, span)
  return (session) => insertRun(session, row, { ...span, ...stretch, backfillId: run.backfill_id }, nowMs)
}

/** `total` is how many runs it was to have; null when that is told already. */
async function endBackfill(
  postgres: Session,
  id: string,
  status: string,
  nowMs: number,
  total: number | null = null,
): Promise<number> {
  await postgres.query(
    `update batch_export_backfill set status = $2, finished_at = to_timestamp($3), last_updated_at = to_timestamp($3),
       total_runs = coalesce($5, total_runs)
     where id = $1 and status = any ($4)`,
    [id, status, nowMs / 1000, openStatuses, total],
  )
  return 0
}

function msOf(moment: string | null): number | null {
  return moment === null ? null : Date.parse(moment)
}
