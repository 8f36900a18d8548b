// Runs of batch exports as the API shows them.

import { Type } from '../api/schema.ts'

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

/** A count as the API shows it, where counts end at 32 bits. LEAST would make them of NULL, too. */
const shownCount = (name: string) =>
  `case when ${name} > 2147483647 then 2147483647 else ${name} end as ${name}`

/** Columns of `batch_export_run` in the words of the API. */
export const runColumns = `id, status, ${shownCount('records_completed')}, latest_error,
  data_interval_start, data_interval_end, cursor, created_at, finished_at, last_updated_at,
  ${shownCount('records_total_count')}, batch_export_id as batch_export`

const latestRunsMax = 10
const moments = ['data_interval_start', 'data_interval_end', 'created_at', 'finished_at', 'last_updated_at']

/** The latest runs of a row of `batch_export`, newest first, as JSON, with moments as Postgres has them there. */
export const selectLatestRuns = `coalesce((
    select json_agg(row_to_json(run))
    from (select ${runColumns} from batch_export_run where batch_export_id = batch_export.id
      order by created_at desc, id desc limit ${latestRunsMax}) run), '[]')`

/** Makes a run of `selectLatestRuns` what is shown everywhere else, in its place: a page may hold 10,000 of them. */
export function showLatestRun(run: object): void {
  for (const name of moments) {
    const moment: unknown = Reflect.get(run, name)
    if (typeof moment === 'string') Reflect.set(run, name, momentOf(moment))
  }
}

const zone = '+00:00'
const wholeSeconds = '2021-08-08T20:20:08'
const microseconds = '2021-08-08T20:20:08.120000'

/** "2021-08-08T20:20:08.12+00:00" as "2021-08-08T20:20:08.120000Z". */
function momentOf(text: string): string {
  const moment = text.endsWith(zone) ? text.slice(0, -zone.length) : text
  return moment.length === wholeSeconds.length ? `${moment}Z` : `${moment.padEnd(microseconds.length, '0')}Z`
}
