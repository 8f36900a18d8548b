// Batch exports written: one row from what a caller sent, and the row's changes from what another call sends.

import type { Static } from 'typebox'
import type { Principal } from '../api/principal.ts'
import { ServiceError } from '../errors.ts'
import { readExportQuery } from '../exports/hogql-query.ts'
import { checkModel, type ModelUse } from '../exports/model-use.ts'
import {
  type OpenDestination,
  openDestination,
  type StoredDestination,
} from '../exports/stored-destination.ts'
import type { Clock } from '../lib/clock.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Session } from '../postgres/pool.ts'
import type { SqlRunner } from '../query/compile.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { Place } from './batch-export-operation.ts'
import type { batchExportInput, batchExportPatch } from './batch-export-rows.ts'

/** What batch exports need of the other rooms. */
export interface ExportRooms {
  readonly events: SqlRunner
  readonly outbound: Pick<Outbound, 'checkUrl' | 'checkHost'>
  readonly sealer: Sealer
  readonly clock: Clock
}

export type BatchExportInput = Static<typeof batchExportInput>
export type BatchExportPatch = Static<typeof batchExportPatch>

/** Columns of `batch_export` without its destination. */
export type Columns = Readonly<Record<string, unknown>>

/**
 * The project that a new export belongs to: the one of the path; else the one whose key the body carries; else the
 * caller's current one if it is the organization's; else the organization's first.
 * Errors: invalid_input for a key of no project, and for an organization without projects.
 */
export async function projectFor(
  session: Session,
  place: Place,
  principal: Principal,
  token: string | undefined,
): Promise<number> {
  if (place.projectId !== null) return place.projectId
  const { rows } = await session.query<{ id: number; has_token: boolean }>(
    `select id, api_token = $3 as has_token from project where organization_id = $1
     order by api_token = $3 desc, id = $2 desc, id limit 1`,
    [place.organizationId, principal.currentProjectId, token ?? ''],
  )
  const [project] = rows
  if (project === undefined) {
    throw new ServiceError('invalid_input', { detail: 'The organization has no project to export from.' })
  }
  if (token !== undefined && !project.has_token) {
    throw new ServiceError('invalid_input', { detail: 'No project has this API key.', attr: 'token' })
  }
  return project.id
}

/** The columns that `input` names, its query read. Errors: invalid_input. */
export async function columnsOf(
  rooms: Pick<ExportRooms, 'events'>,
  projectId: number,
  input: Omit<BatchExportPatch, 'destination'>,
): Promise<Columns> {
  const { name, model, interval, paused, filters, hogql_query } = input
  const query = hogql_query ?? null
  const schema = query === null ? null : await readExportQuery(rooms.events, query, projectId)
  const columns = {
    name,
    // Null is what PostHog takes for the default.
    model: model === null ? 'events' : model,
    interval,
    paused,
    filters,
    last_paused_at: momentOf(input, 'last_paused_at'),
    start_at: momentOf(input, 'start_at'),
    end_at: momentOf(input, 'end_at'),
    ...(hogql_query === undefined ? {} : { hogql_query: query, query_schema: schema }),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

export async function insertBatchExport(
  session: Session,
  id: string,
  projectId: number,
  columns: Columns & StoredDestination,
  nowMs: number,
): Promise<void> {
  await session.query(
    `insert into batch_export (id, project_id, name, destination_type, destination_config, interval, created_at,
       last_updated_at)
     values ($1, $2, $3, $4, $5, $6, to_timestamp($7), to_timestamp($7))`,
    [
      id,
      projectId,
      columns.name,
      columns.destination_type,
      JSON.stringify(columns.destination_config),
      columns.interval,
      nowMs / 1000,
    ],
  )
  await writeBatchExport(session, id, columns, nowMs)
}

/**
 * Writes the columns that are named; the others stay. One statement whatever they are: a record over the row.
 * Errors: invalid_input when the export as it is then makes no sense.
 */
export async function writeBatchExport(
  session: Session,
  id: string,
  columns: Columns,
  nowMs: number,
): Promise<void> {
  await session.query(
    `update batch_export set last_updated_at = to_timestamp($3), name = written.name, model = written.model,
       destination_type = written.destination_type, destination_config = written.destination_config,
       destination_secrets = written.destination_secrets, interval = written.interval, paused = written.paused,
       last_paused_at = written.last_paused_at, start_at = written.start_at, end_at = written.end_at,
       hogql_query = written.hogql_query, query_schema = written.query_schema, filters = written.filters
     from batch_export stored, jsonb_populate_record(stored, $2) written
     where stored.id = $1 and batch_export.id = $1`,
    [id, JSON.stringify(columns), nowMs / 1000],
  )
  const { rows } = await session.query<ModelUse>(
    'select model, destination_type, hogql_query, filters from batch_export where id = $1',
    [id],
  )
  if (rows[0] !== undefined) checkModel(rows[0])
}

/** The destination of an export that was found, with its secrets, in its row's lock when `isLocking`. */
export async function readDestination(
  session: Session,
  sealer: Sealer,
  id: string,
  isLocking: boolean,
): Promise<OpenDestination> {
  const { rows } = await session.query<StoredDestination>(
    `select destination_type, destination_config, destination_secrets from batch_export where id = $1
     ${isLocking ? 'for update' : ''}`,
    [id],
  )
  // Deleted since it was found.
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return openDestination(sealer, id, rows[0])
}

/** A moment as Postgres reads any: in UTC, whatever offset it came with. */
function momentOf(
  input: Omit<BatchExportPatch, 'destination'>,
  field: 'last_paused_at' | 'start_at' | 'end_at',
): string | null | undefined {
  const text = input[field]
  if (text === null || text === undefined) return text
  const fraction = /[.,](\d+)/.exec(text)?.[1]
  const utc = new Date(text.replace(/[.,]\d+/, '')).toISOString()
  if (!/^\d{4}-/.test(utc) || utc.startsWith('0000')) {
    throw new ServiceError('invalid_input', { detail: 'Years go from 1 to 9999.', attr: field })
  }
  return `${utc.slice(0, 19)}${fraction === undefined ? '' : `.${fraction}`}Z`
}
