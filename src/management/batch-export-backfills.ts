// Backfills: past time that a batch export shall deliver, in runs of its interval.

import type { Static } from 'typebox'
import type { Operation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import { type BackfillRange, readBackfillRange } from '../exports/backfill-range.ts'
import type { Interval } from '../exports/interval.ts'
import type { Session } from '../postgres/pool.ts'
import type { SqlRunner } from '../query/compile.ts'
import { sessionOfEvent } from '../query/sessions.ts'
import { recordActivity } from './activity.ts'
import {
  backfillSchema,
  insertBackfill,
  openStatuses,
  selectBackfills,
} from './batch-export-backfill-rows.ts'
import {
  type ExportContext,
  exportOperation,
  findBatchExport,
  idIn,
  pageOfExport,
} from './batch-export-operation.ts'
import { type BatchExportRow, batchExportPatch } from './batch-export-rows.ts'
import type { ExportRooms } from './batch-export-write.ts'

const rangeInput = Type.Object({
  start_at: Type.Optional(
    Type.Unknown({ description: 'ISO 8601 with offset, inclusive; null is from the beginning, in one run.' }),
  ),
  end_at: Type.Optional(
    Type.Unknown({
      description: 'ISO 8601 with offset, exclusive; null, for HTTP and NoOp only, is without end.',
    }),
  ),
})

export function batchExportBackfillOperations(rooms: ExportRooms): Operation[] {
  const list = exportOperation({
    method: 'GET',
    path: '/:id/backfills',
    operationId: 'batch_exports_backfills_list',
    summary: 'List backfills of a batch export, newest first',
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(backfillSchema),
    handle: (context) =>
      pageOfExport(context, {
        select: selectBackfills,
        params: [idIn(context.params, 'id')],
        order: 'created_at desc, id desc',
        page: pageOf(context.request.query),
      }),
  })
  const create = exportOperation({
    method: 'POST',
    path: '/:id/backfills',
    operationId: 'batch_exports_backfills_create',
    summary: 'Export past time once more',
    query: null,
    body: rangeInput,
    status: 200,
    response: Type.Object({ backfill_id: Type.String({ format: 'uuid' }) }),
    handle: async (context) => ({ backfill_id: await startBackfill(rooms, context) }),
  })
  const deprecated = exportOperation({
    method: 'POST',
    path: '/:id/backfill',
    operationId: 'batch_exports_backfill',
    summary: 'Export past time once more; deprecated in favour of `backfills`',
    query: null,
    body: rangeInput,
    ignores: batchExportPatch,
    isDeprecated: true,
    status: 200,
    response: null,
    handle: (context) => startBackfill(rooms, context),
  })
  const cancel = exportOperation({
    method: 'POST',
    path: '/:id/backfills/:backfill_id/cancel',
    operationId: 'batch_exports_backfills_cancel',
    summary: 'Cancel a backfill and its runs',
    query: null,
    body: null,
    status: 200,
    response: Type.Object({ cancelled: Type.Boolean() }),
    handle: (context) => cancelBackfill(rooms, context),
  })
  return [list, create, deprecated, cancel].flat()
}

async function startBackfill(
  { events, clock }: ExportRooms,
  { place, sql, params, body, principal, address }: ExportContext<object, Static<typeof rangeInput>>,
): Promise<string> {
  const found = await findBatchExport(sql, place, idIn(params, 'id'))
  const nowMs = clock.nowMs()
  const { rows } = await sql.query<{ timezone: string; interval: Interval; destination_type: string }>(
    `select timezone, interval, destination_type from batch_export join project on project.id = project_id
     where batch_export.id = $1`,
    [found.id],
  )
  const [row] = rows
  if (row === undefined) throw new ServiceError('not_found')
  const range: BackfillRange = readBackfillRange(body, {
    interval: row.interval,
    timeZone: row.timezone,
    canBeEndless: row.destination_type === 'HTTP' || row.destination_type === 'NoOp',
    nowMs,
    earliestMs: await earliestMs(sql, events, found),
  })
  return sql.transaction(async (session) => {
    const id = await insertBackfill(session, found, range, nowMs)
    const entry = {
      organizationId: place.organizationId,
      projectId: found.team_id,
      activity: 'backfill started',
      scope: 'BatchExport',
      itemId: found.id,
    }
    await recordActivity(session, { principal, address }, entry, nowMs)
    return id
  })
}

/**
 * When the first thing came that an export of this model holds, or somewhat before it was stored; null when there is
 * none. An interval has what was stored in it, whenever that happened.
 */
async function earliestMs(
  session: Session,
  events: SqlRunner,
  { model, team_id: projectId }: BatchExportRow,
): Promise<number | null> {
  if (model === 'persons') {
    const { rows } = await session.query<{ earliest: string | null }>(
      'select min(changed_at) as earliest from person where project_id = $1',
      [projectId],
    )
    const earliest = rows[0]?.earliest ?? null
    return earliest === null ? null : Date.parse(earliest)
  }
  const { rows } = await events.query(model === 'sessions' ? earliestSession : earliestEvent, [
    String(projectId),
  ])
  const ms = rows[0]?.[0] ?? null
  return ms === null ? null : Number(ms)
}

const earliestEvent = 'select epoch_ms(min(received_at))::double from events where project_id = $1::integer'
/** The first in the order in which they were stored: looking for the least would read them all. */
const earliestSession = `select epoch_ms(received_at)::double from event t
  where project_id = $1::integer and ${sessionOfEvent} <> '' limit 1`

async function cancelBackfill(
  { clock }: ExportRooms,
  { place, sql, params, principal, address }: ExportContext<object, unknown>,
): Promise<object> {
  const backfillId = idIn(params, 'backfill_id')
  const nowMs = clock.nowMs()
  return sql.transaction(async (session) => {
    const found = await findBatchExport(session, place, idIn(params, 'id'))
    const { rows } = await session.query<{ status: string }>(
      'select status from batch_export_backfill where id = $1 and batch_export_id = $2 for update',
      [backfillId, found.id],
    )
    const [backfill] = rows
    if (backfill === undefined) throw new ServiceError('not_found')
    if (!openStatuses.includes(backfill.status)) {
      const detail = `Cannot cancel a backfill that is in '${backfill.status}' status`
      throw new ServiceError('invalid_input', { detail })
    }
    await session.query(
      `update batch_export_backfill set status = 'Cancelled', finished_at = to_timestamp($2),
         last_updated_at = to_timestamp($2) where id = $1`,
      [backfillId, nowMs / 1000],
    )
    await session.query(
      `update batch_export_run set status = 'Cancelled', finished_at = to_timestamp($2),
         last_updated_at = to_timestamp($2) where backfill_id = $1 and status = any ($3)`,
      [backfillId, nowMs / 1000, openStatuses],
    )
    const entry = {
      organizationId: place.organizationId,
      projectId: found.team_id,
      activity: 'backfill cancelled',
      scope: 'BatchExport',
      itemId: found.id,
    }
    await recordActivity(session, { principal, address }, entry, nowMs)
    return { cancelled: true }
  })
}
