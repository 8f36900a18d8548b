// The steps of batch exports, below an organization and below a project alike.

import type { Audited, Step } from './audit.ts'

const span = { start_at: '2024-04-30T00:00:00Z', end_at: '2024-04-30T02:00:00Z' }
const noOp = { name: 'nowhere', destination: { type: 'NoOp', config: {} }, interval: 'hour' }

export function batchExportSteps(tenant: string): Step[] {
  const path = `${tenant}/batch_exports`
  const on = { id: 'export' }
  return [
    { does: `POST ${path}`, body: noOp, keeps: { export: 'id' } },
    { does: `PUT ${path}/:id`, ...on, body: { ...noOp, name: 'b' } },
    { does: `PATCH ${path}/:id`, ...on, body: { name: 'c' } },
    { does: `POST ${path}/:id/pause`, ...on },
    { does: `POST ${path}/:id/unpause`, ...on },
    { does: `POST ${path}/:id/backfill`, ...on, body: span },
    { does: `POST ${path}/:id/backfills`, ...on, body: span, keeps: { backfill: 'backfill_id' } },
    { does: `POST ${path}/:id/backfills/:backfill_id/cancel`, ...on, inner: 'backfill' },
    { does: `POST ${path}/:id/runs/:run_id/retry`, ...on, inner: 'run', first: addRun },
    { does: `POST ${path}/:id/runs/:run_id/cancel`, ...on, inner: 'run' },
    { does: `DELETE ${path}/:id`, ...on },
  ]
}

/** As the schedule would have it at work. */
async function addRun({ world, made }: Audited): Promise<void> {
  const { rows } = await world.postgres.query<{ id: string }>(
    `insert into batch_export_run (id, project_id, batch_export_id, status, data_interval_start, data_interval_end,
       created_at, last_updated_at)
     values (gen_random_uuid(), 1, $1, 'Running', now() - interval '2 hours', now() - interval '1 hour', now(), now())
     returning id`,
    [made.get('export')],
  )
  made.set('run', rows[0]?.id ?? '')
}
