// Runs of batch exports: what became of each interval, and what to do about it.

import type { Operation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'
import { recordActivity } from './activity.ts'
import { insertBackfill, openStatuses } from './batch-export-backfill-rows.ts'
import {
  type ExportContext,
  exportOperation,
  findBatchExport,
  idIn,
  pageOfExport,
} from './batch-export-operation.ts'
import type { BatchExportRow } from './batch-export-rows.ts'
import { runColumns, runSchema } from './batch-export-run-rows.ts'
import type { ExportRooms } from './batch-export-write.ts'

const selectRuns = `select ${runColumns} from batch_export_run where batch_export_id = $1`

interface RunRow {
  readonly id: string
  readonly status: string
  readonly data_interval_start: string | null
  readonly data_interval_end: string | null
}

export function batchExportRunOperations(rooms: ExportRooms): Operation[] {
  const list = exportOperation({
    method: 'GET',
    path: '/:id/runs',
    operationId: 'batch_exports_runs_list',
    summary: 'List runs of a batch export, newest first',
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(runSchema),
    handle: (context) =>
      pageOfExport(context, {
        select: selectRuns,
        params: [idIn(context.params, 'id')],
        order: 'created_at desc, id desc',
        page: pageOf(context.request.query),
      }),
  })
  const retrieve = exportOperation({
    method: 'GET',
    path: '/:id/runs/:run_id',
    operationId: 'batch_exports_runs_retrieve',
    summary: 'Retrieve a run of a batch export',
    query: null,
    body: null,
    status: 200,
    response: runSchema,
    handle: async ({ place, sql, params }) =>
      findRun(sql, await findBatchExport(sql, place, idIn(params, 'id')), idIn(params, 'run_id')),
  })
  const cancel = exportOperation({
    method: 'POST',
    path: '/:id/runs/:run_id/cancel',
    operationId: 'batch_exports_runs_cancel',
    summary: 'Cancel a run that has not ended',
    query: null,
    body: null,
    status: 200,
    response: Type.Object({ cancelled: Type.Boolean() }),
    handle: (context) => cancelRun(rooms, context),
  })
  const retry = exportOperation({
    method: 'POST',
    path: '/:id/runs/:run_id/retry',
    operationId: 'batch_exports_runs_retry',
    summary: 'Export the interval of a run once more, as a backfill',
    query: null,
    body: null,
    status: 200,
    response: Type.Object({ backfill_id: Type.String({ format: 'uuid' }) }),
    handle: (context) => retryRun(rooms, context),
  })
  return [list, retrieve, cancel, retry].flat()
}

async function findRun(session: Session, { id }: BatchExportRow, runId: string): Promise<RunRow> {
  const { rows } = await session.query<RunRow>(`${selectRuns} and id = $2`, [id, runId])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}

async function cancelRun(
  { clock }: ExportRooms,
  { place, sql, params, principal, address }: ExportContext<object, unknown>,
): Promise<object> {
  const nowMs = clock.nowMs()
  return sql.transaction(async (session) => {
    const found = await findBatchExport(session, place, idIn(params, 'id'))
    const { id } = await findRun(session, found, idIn(params, 'run_id'))
    const { rowCount } = await session.query(
      `update batch_export_run set status = 'Cancelled', finished_at = to_timestamp($2),
         last_updated_at = to_timestamp($2) where id = $1 and status = any ($3)`,
      [id, nowMs / 1000, openStatuses],
    )
    if (rowCount === 0) {
      const { status } = await findRun(session, found, id)
      const detail = `Cannot cancel a run that is in '${status}' status`
      throw new ServiceError('invalid_input', { detail })
    }
    const activity = 'run cancelled'
    const entry = {
      organizationId: place.organizationId,
      activity,
      scope: 'BatchExport',
      itemId: found.id,
      projectId: found.team_id,
    }
    await recordActivity(session, { principal, address }, entry, nowMs)
    return { cancelled: true }
  })
}

async function retryRun(
  { clock }: ExportRooms,
  { place, sql, params, principal, address }: ExportContext<object, unknown>,
): Promise<object> {
  const nowMs = clock.nowMs()
  return sql.transaction(async (session) => {
    const found = await findBatchExport(session, place, idIn(params, 'id'))
    const run = await findRun(session, found, idIn(params, 'run_id'))
    const range = { startMs: msOf(run.data_interval_start), endMs: msOf(run.data_interval_end) }
    const backfillId = await insertBackfill(session, found, range, nowMs)
    const activity = 'run retried'
    const entry = {
      organizationId: place.organizationId,
      activity,
      scope: 'BatchExport',
      itemId: found.id,
      projectId: found.team_id,
    }
    await recordActivity(session, { principal, address }, entry, nowMs)
    return { backfill_id: backfillId }
  })
}

function msOf(moment: string | null): number | null {
  return moment === null ? null : Date.parse(moment)
}
