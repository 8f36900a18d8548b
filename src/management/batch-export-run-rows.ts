// Runs of batch exports as the API shows them.

import { Type } from 'typebox'

const moment = Type.Union([Type.String({ format: 'date-time' }), Type.Null()])
const count = Type.Union([Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), Type.Null()])

export const runSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  status: Type.String({
    description:
      'Cancelled, Completed, ContinuedAsNew, Failed, FailedRetryable, FailedBilling, Terminated, TimedOut, ' +
      'Running or Starting.',
  }),
  records_completed: count,
  latest_error: Type.Union([Type.String(), Type.Null()]),
  data_interval_start: moment,
  data_interval_end: moment,
  cursor: Type.Union([Type.String(), Type.Null()]),
  created_at: Type.String({ format: 'date-time' }),
  finished_at: moment,
  last_updated_at: Type.String({ format: 'date-time' }),
  records_total_count: count,
  batch_export: Type.String({ format: 'uuid' }),
})

/** Columns of `batch_export_run` in the words of the API, where counts end at 32 bits. */
export const runColumns = `id, status, least(records_completed, 2147483647) as records_completed, latest_error,
  data_interval_start, data_interval_end, cursor, created_at, finished_at, last_updated_at,
  least(records_total_count, 2147483647) as records_total_count, batch_export_id as batch_export`
