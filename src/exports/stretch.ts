// What a run takes of its model: all that lies between two boundaries (boundary.ts). An interval that a run has had
// before keeps its boundaries, however late it is exported again.

import type { Postgres, Session } from '../postgres/pool.ts'
import type { SqlRunner } from '../query/compile.ts'
import { changesBefore, encodeOffsets, isOfModel, offsetsBefore } from './boundary.ts'
import type { Model } from './delivery.ts'

export interface PlanRooms {
  readonly postgres: Postgres
  readonly store: SqlRunner
}

/** The export that is planned. */
export interface ExportModel {
  readonly id: string
  readonly model: Model
}

export interface Stretch {
  readonly start: string | null
  readonly end: string
}

/** What a run of an interval takes that has passed. */
export async function pastStretch(
  rooms: PlanRooms,
  row: ExportModel,
  { startMs, endMs }: { readonly startMs: number | null; readonly endMs: number },
): Promise<Stretch> {
  const known = await knownStretch(rooms.postgres, row, startMs, endMs)
  if (known !== null) return known
  const start = startMs === null ? null : await boundaryAt(rooms, row, startMs)
  return { start, end: await boundaryAt(rooms, row, endMs) }
}

/** A boundary of `atMs` that a run has used, or else what the stores say of it. */
export async function boundaryAt(rooms: PlanRooms, row: ExportModel, atMs: number): Promise<string> {
  const { rows } = await rooms.postgres.query<{ boundary: string }>(
    `select boundary from (
       select stretch_end as boundary, created_at from batch_export_run
       where batch_export_id = $1 and data_interval_end = to_timestamp($2)
       union all
       select stretch_start, created_at from batch_export_run
       where batch_export_id = $1 and data_interval_start = to_timestamp($2)
     ) known order by created_at`,
    [row.id, atMs / 1000],
  )
  const known = rows.find(({ boundary }) => isOfModel(row.model, boundary))
  if (known !== undefined) return known.boundary
  if (row.model === 'persons') return changesBefore(rooms.postgres, atMs)
  return encodeOffsets(await offsetsBefore(rooms.store, atMs))
}

/** The stretch that a run of this very interval has taken first; null when there was none. */
async function knownStretch(
  postgres: Session,
  { id, model }: ExportModel,
  startMs: number | null,
  endMs: number,
): Promise<Stretch | null> {
  const { rows } = await postgres.query<Stretch>(
    `select stretch_start as start, stretch_end as end from batch_export_run
     where batch_export_id = $1 and data_interval_end = to_timestamp($3)
       and data_interval_start is not distinct from to_timestamp($2) and stretch_end is not null
     order by created_at`,
    [id, startMs === null ? null : startMs / 1000, endMs / 1000],
  )
  return rows.find(({ end }) => isOfModel(model, end)) ?? null
}
