// Operations on batch exports stand below an organization and below each of its projects, with the same fields: an
// operation is described once and becomes both.

import type { Static, TObject, TSchema } from 'typebox'
import { type CountedList, countedPage } from '../api/counted-page.ts'
import {
  type Description,
  type Operation,
  organizationOperation,
  projectOperation,
} from '../api/operation.ts'
import type { Envelope } from '../api/pagination.ts'
import type { Principal } from '../api/principal.ts'
import type { TenantSql } from '../api/tenant-sql.ts'
import { ServiceError } from '../errors.ts'
import type { HttpRequest } from '../http/route.ts'
import type { Session } from '../postgres/pool.ts'
import { type BatchExportRow, batchExportOf, selectBatchExports } from './batch-export-rows.ts'

/** Where batch exports are looked for. */
export interface Place {
  readonly organizationId: string
  /** Null for all projects of the organization. */
  readonly projectId: number | null
}

export interface ExportContext<Query, Body> {
  readonly place: Place
  readonly principal: Principal
  readonly sql: TenantSql
  readonly address: string
  readonly request: HttpRequest
  readonly url: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
}

interface Definition<Query extends TObject, Body extends TSchema>
  extends Omit<Description<Query, Body>, 'path' | 'tag'> {
  /** Below `batch_exports`. */
  readonly path: '' | `/${string}`
  readonly handle: (context: ExportContext<Static<Query>, Static<Body>>) => Promise<unknown>
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function exportOperation<Query extends TObject, Body extends TSchema>(
  definition: Definition<Query, Body>,
): Operation[] {
  const { path, operationId, handle } = definition
  const tag = 'batch exports'
  return [
    organizationOperation<Query, Body>({
      ...definition,
      tag,
      path: `/api/organizations/:organization_id/batch_exports${path}`,
      handle: ({ organization, ...context }) =>
        handle({ ...context, place: { organizationId: organization.id, projectId: null } }),
    }),
    projectOperation<Query, Body>({
      ...definition,
      tag,
      path: `/api/projects/:project_id/batch_exports${path}`,
      operationId: `project_${operationId}`,
      handle: ({ project, ...context }) =>
        handle({ ...context, place: { organizationId: project.organization.id, projectId: project.id } }),
    }),
  ]
}

/** The id that a path names. Errors: not_found for what is no id. */
export function idIn(params: Readonly<Record<string, string>>, name: string): string {
  const id = params[name] ?? ''
  if (!uuid.test(id)) throw new ServiceError('not_found')
  return id.toLowerCase()
}

/**
 * A page of what belongs to a batch export, by `select`, whose last words are a condition. Where it holds nothing, the
 * export is looked for. Errors: not_found for an export that is not, or is somewhere else.
 */
export async function pageOfExport<Row extends object>(
  { place, sql, params, url }: Pick<ExportContext<object, unknown>, 'place' | 'sql' | 'params' | 'url'>,
  list: Omit<CountedList, 'url'>,
): Promise<Envelope<Row>> {
  const at = list.params.length
  const found = await countedPage<Row>(sql, {
    ...list,
    url,
    // Asked once a statement, and not once a row.
    select: `${list.select} and batch_export_id = (
      select batch_export.id from batch_export join project on project.id = batch_export.project_id
      where batch_export.id = $${at + 1} and organization_id = $${at + 2}
        and ($${at + 3}::integer is null or project_id = $${at + 3}))`,
    params: [...list.params, idIn(params, 'id'), place.organizationId, place.projectId],
  })
  if (found.count === 0) await findBatchExport(sql, place, idIn(params, 'id'))
  return found
}

/** Errors: not_found for one that is not, or is somewhere else. */
export async function findBatchExport(session: Session, place: Place, id: string): Promise<BatchExportRow> {
  const { rows } = await session.query<BatchExportRow>(`${selectBatchExports} and batch_export.id = $3`, [
    place.organizationId,
    place.projectId,
    id,
  ])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return batchExportOf(rows[0])
}
