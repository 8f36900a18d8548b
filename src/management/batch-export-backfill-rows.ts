// Backfills of batch exports as the API shows them, and how one is started.

import { Type } from '../api/schema.ts'
import type { BackfillRange } from '../exports/backfill-range.ts'
import { countWithin, type Interval } from '../exports/interval.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'
import type { BatchExportRow } from './batch-export-rows.ts'

const moment = Type.Union([Type.String({ format: 'date-time' }), Type.Null()])

export const backfillSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  progress: Type.Union([
    Type.Object({
      total_runs: Type.Integer(),
      finished_runs: Type.Integer(),
      progress: Type.Number({ description: 'From 0 to 1.' }),
    }),
    Type.Null(),
  ]),
  start_at: moment,
  end_at: moment,
  status: Type.String({ description: 'As of a run.' }),
  created_at: Type.String({ format: 'date-time' }),
  finished_at: moment,
  last_updated_at: Type.String({ format: 'date-time' }),
  team: Type.Integer(),
  batch_export: Type.String({ format: 'uuid' }),
})

/** Statuses that something may still come of. */
export const openStatuses = ['Starting', 'Running']

/** Selects backfills of the batch export $1. */
export const selectBackfills = `
  select id, case when total_runs is not null then jsonb_build_object('total_runs', total_runs,
      'finished_runs', finished_runs,
      'progress', case when total_runs = 0 then 1 else round(finished_runs::numeric / total_runs, 4) end)
    end as progress, start_at, end_at, status, created_at, finished_at, last_updated_at, project_id as team,
    batch_export_id as batch_export
  from batch_export_backfill left join lateral (
    select count(*) as finished_runs from batch_export_run
    where backfill_id = batch_export_backfill.id and finished_at is not null
  ) finished on true
  where batch_export_id = $1`

/** Starts a backfill: whoever runs exports finds it. Returns its id. */
export async function insertBackfill(
  session: Session,
  found: BatchExportRow,
  { startMs, endMs }: BackfillRange,
  nowMs: number,
): Promise<string> {
  const { rows } = await session.query<{ timezone: string; interval: Interval }>(
    `select timezone, interval from batch_export join project on project.id = project_id
     where batch_export.id = $1`,
    [found.id],
  )
  const [row] = rows
  const isBounded = startMs !== null && endMs !== null && row !== undefined
  const totalRuns = isBounded ? countWithin(row.interval, row.timezone, { startMs, endMs }) : null
  const id = makeUuidV7(nowMs)
  await session.query(
    `insert into batch_export_backfill
       (id, project_id, batch_export_id, start_at, end_at, status, total_runs, created_at, last_updated_at)
     values ($1, $2, $3, to_timestamp($4), to_timestamp($5), 'Starting', $6, to_timestamp($7), to_timestamp($7))`,
    [id, found.team_id, found.id, seconds(startMs), seconds(endMs), totalRuns, nowMs / 1000],
  )
  return id
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000
}
