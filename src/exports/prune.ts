// Takes away what exports need no more: lines of their logs, and ids that were deleted.

import type { Postgres } from '../postgres/pool.ts'

const dayMs = 86_400_000
/** A run is given up after a week: those that are due have told of them by then. */
const deletedIdsMsMax = 30 * dayMs
/** Rows of a statement, so that none holds the tables for long; the rest has its turn the next time. */
const linesMax = 10_000
const statementsMax = 100

/** Returns how many lines went. Errors: postgres_unavailable. */
export async function prune(postgres: Postgres, logDays: number, nowMs: number): Promise<number> {
  await postgres.query('delete from person_distinct_id_deleted where changed_at < to_timestamp($1)', [
    (nowMs - deletedIdsMsMax) / 1000,
  ])
  let total = 0
  for (let statements = 0; statements < statementsMax; statements++) {
    // By export, as the index is.
    const { rowCount } = await postgres.query(
      `delete from batch_export_log where id = any (array(
         select line.id from batch_export cross join lateral (
           select id from batch_export_log
           where batch_export_id = batch_export.id and timestamp < to_timestamp($1) limit ${linesMax}
         ) line limit ${linesMax}))`,
      [(nowMs - logDays * dayMs) / 1000],
    )
    total += rowCount
    if (rowCount < linesMax) break
  }
  return total
}
