// Pausing a batch export and letting it go on, with what it has missed if the caller wants that.

import type { Operation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { recordActivity } from './activity.ts'
import { insertBackfill } from './batch-export-backfill-rows.ts'
import { type ExportContext, exportOperation, findBatchExport, idIn } from './batch-export-operation.ts'
import { batchExportPatch } from './batch-export-rows.ts'
import type { ExportRooms } from './batch-export-write.ts'

export function batchExportPauseOperations(rooms: ExportRooms): Operation[] {
  const pause = exportOperation({
    method: 'POST',
    path: '/:id/pause',
    operationId: 'batch_exports_pause',
    summary: 'Pause a batch export; one that is paused stays so',
    query: null,
    body: null,
    ignores: batchExportPatch,
    status: 200,
    response: null,
    handle: (context) => setPaused(rooms, context, true, false),
  })
  const unpause = exportOperation({
    method: 'POST',
    path: '/:id/unpause',
    operationId: 'batch_exports_unpause',
    summary: 'Let a paused batch export go on; `backfill` exports what it has missed',
    query: null,
    body: Type.Object({ backfill: Type.Optional(Type.Boolean()) }),
    ignores: batchExportPatch,
    status: 200,
    response: null,
    handle: (context) => setPaused(rooms, context, false, context.body.backfill === true),
  })
  return [pause, unpause].flat()
}

async function setPaused(
  { clock }: ExportRooms,
  { place, sql, params, principal, address }: Omit<ExportContext<object, unknown>, 'body'>,
  paused: boolean,
  isBackfilling: boolean,
): Promise<void> {
  const id = idIn(params, 'id')
  const nowMs = clock.nowMs()
  await sql.transaction(async (session) => {
    const found = await findBatchExport(session, place, id)
    const { rows } = await session.query<{ last_paused_at: string | null }>(
      `update batch_export set paused = $2, last_updated_at = to_timestamp($3),
         last_paused_at = case when $2 then to_timestamp($3) else last_paused_at end
       where id = $1 and paused <> $2 returning last_paused_at`,
      [id, paused, nowMs / 1000],
    )
    const [changed] = rows
    if (changed === undefined) return
    if (isBackfilling) {
      const startMs = changed.last_paused_at === null ? null : Date.parse(changed.last_paused_at)
      await insertBackfill(session, found, { startMs, endMs: nowMs }, nowMs)
    }
    const activity = paused ? 'paused' : 'unpaused'
    const entry = {
      organizationId: place.organizationId,
      activity,
      scope: 'BatchExport',
      itemId: id,
      projectId: found.team_id,
    }
    await recordActivity(session, { principal, address }, entry, nowMs)
  })
}
