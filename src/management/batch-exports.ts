// Batch exports: scheduled exports of a project's data, below its organization and below the project itself.

import type { Static } from 'typebox'
import { countedPage } from '../api/counted-page.ts'
import type { Operation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import { type OpenDestination, sealDestination } from '../exports/stored-destination.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import { type Actor, changesBetween, recordActivity } from './activity.ts'
import {
  changedDestination,
  checkAddresses,
  type GivenDestination,
  hasSameAddress,
} from './batch-export-destination.ts'
import { type ExportContext, exportOperation, findBatchExport, idIn } from './batch-export-operation.ts'
import {
  type BatchExportRow,
  batchExportFields,
  batchExportInput,
  batchExportOf,
  batchExportPatch,
  batchExportSchema,
  selectBatchExports,
} from './batch-export-rows.ts'
import {
  columnsOf,
  type ExportRooms,
  insertBatchExport,
  projectFor,
  readDestination,
  writeBatchExport,
} from './batch-export-write.ts'

const scope = 'BatchExport'
/** Of the address of one change, while others change it, too. */
const judgementsMax = 5

export function batchExportOperations(rooms: ExportRooms): Operation[] {
  return [...readOperations(), ...writeOperations(rooms)]
}

function readOperations(): Operation[] {
  const list = exportOperation({
    method: 'GET',
    path: '',
    operationId: 'batch_exports_list',
    summary: 'List batch exports, newest first',
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(batchExportSchema),
    handle: async ({ place, sql, request, url }) => {
      const found = await countedPage<BatchExportRow>(sql, {
        select: selectBatchExports,
        params: [place.organizationId, place.projectId],
        order: 'created_at desc, id desc',
        url,
        page: pageOf(request.query),
      })
      return { ...found, results: found.results.map(batchExportOf) }
    },
  })
  const retrieve = exportOperation({
    method: 'GET',
    path: '/:id',
    operationId: 'batch_exports_retrieve',
    summary: 'Retrieve a batch export',
    query: null,
    body: null,
    status: 200,
    response: batchExportSchema,
    handle: ({ place, sql, params }) => findBatchExport(sql, place, idIn(params, 'id')),
  })
  return [list, retrieve].flat()
}

function writeOperations(rooms: ExportRooms): Operation[] {
  const create = exportOperation({
    method: 'POST',
    path: '',
    operationId: 'batch_exports_create',
    summary: 'Create a batch export; its secrets are sealed and never shown again',
    query: null,
    body: batchExportInput,
    status: 201,
    response: batchExportSchema,
    handle: (context) => createBatchExport(rooms, context),
  })
  const update = { path: '/:id', query: null, status: 200, response: batchExportSchema } as const
  const replace = exportOperation({
    ...update,
    method: 'PUT',
    operationId: 'batch_exports_update',
    summary: 'Change a batch export; what may be left out stays as it is',
    body: batchExportInput,
    handle: (context) => changeBatchExport(rooms, context),
  })
  const patch = exportOperation({
    ...update,
    method: 'PATCH',
    operationId: 'batch_exports_partial_update',
    summary: 'Change some fields of a batch export; keys of the config that are not sent stay',
    body: batchExportPatch,
    handle: (context) => changeBatchExport(rooms, context),
  })
  const destroy = exportOperation({
    method: 'DELETE',
    path: '/:id',
    operationId: 'batch_exports_destroy',
    summary: 'Delete a batch export with its runs, backfills and log',
    query: null,
    body: null,
    status: 204,
    response: null,
    handle: (context) => deleteBatchExport(rooms, context),
  })
  return [create, replace, patch, destroy].flat()
}

type Input = Static<typeof batchExportInput>
type Patch = Static<typeof batchExportPatch>

async function createBatchExport(
  rooms: ExportRooms,
  { place, principal, sql, address, body }: ExportContext<object, Input>,
): Promise<object | undefined> {
  const { clock, sealer } = rooms
  const nowMs = clock.nowMs()
  const id = makeUuidV7(nowMs)
  const projectId = await projectFor(sql, place, principal, body.token ?? body.api_key)
  const destination = changedDestination(null, body.destination)
  await checkAddresses(rooms.outbound, destination)
  const columns = await columnsOf(rooms, projectId, body)
  const sealed = sealDestination(sealer, id, destination)
  return sql.transaction(async (session) => {
    await insertBatchExport(session, id, projectId, { ...columns, ...sealed }, nowMs)
    const created = await findBatchExport(session, place, id)
    const changes = changesBetween({}, created, batchExportFields)
    const entry = {
      organizationId: place.organizationId,
      projectId,
      activity: 'created',
      scope,
      itemId: id,
      changes,
    }
    await recordActivity(session, { principal, address }, entry, nowMs)
    return created
  })
}

async function changeBatchExport(
  rooms: ExportRooms,
  { place, sql, params, body, ...actor }: ExportContext<object, Patch>,
): Promise<object | undefined> {
  const { clock, sealer } = rooms
  const id = idIn(params, 'id')
  const found = await findBatchExport(sql, place, id)
  const { destination: given, ...rest } = body
  const columns = await columnsOf(rooms, found.team_id, rest)
  const nowMs = clock.nowMs()
  const change = (judged: OpenDestination | null): Promise<object | null | undefined> =>
    sql.transaction(async (session) => {
      // Merged in the lock, so that two changes at a time do not undo each other.
      const stored = await readDestination(session, sealer, id, true)
      const destination = given === undefined ? null : changedDestination(stored, given)
      if (destination !== null && !(judged !== null && hasSameAddress(destination, judged))) return null
      const before = await findBatchExport(session, place, id)
      const sealed = destination === null ? {} : sealDestination(sealer, id, destination)
      await writeBatchExport(session, id, { ...columns, ...sealed }, nowMs)
      const after = await findBatchExport(session, place, id)
      await recordChange(session, actor, place.organizationId, before, after, given, nowMs)
      return after
    })
  if (given === undefined) return (await change(null)) ?? undefined
  // Names are looked up outside the lock. Where the address is another by the time the lock is there, since half of it
  // was changed by somebody else, it is judged anew: only what was judged is stored.
  for (let attempt = 0; attempt < judgementsMax; attempt++) {
    const destination = changedDestination(await readDestination(sql, sealer, id, false), given)
    await checkAddresses(rooms.outbound, destination)
    const shown = await change(destination)
    if (shown !== null) return shown
  }
  throw new ServiceError('conflict')
}

async function recordChange(
  session: Parameters<typeof recordActivity>[0],
  actor: Actor,
  organizationId: string,
  before: BatchExportRow,
  after: BatchExportRow,
  given: GivenDestination | undefined,
  nowMs: number,
): Promise<void> {
  // That secrets were sent is all that is told of them.
  const mark = '********'
  const hasConfig = Object.keys(given?.config ?? {}).length > 0
  const secrets = hasConfig ? [{ field: 'destination config', before: mark, after: mark }] : []
  const changes = [...changesBetween(before, after, batchExportFields), ...secrets]
  if (changes.length === 0) return
  const projectId = after.team_id
  const entry = { organizationId, projectId, activity: 'updated', scope, itemId: after.id, changes }
  await recordActivity(session, actor, entry, nowMs)
}

async function deleteBatchExport(
  { clock }: ExportRooms,
  { place, sql, params, principal, address }: ExportContext<object, unknown>,
): Promise<void> {
  const id = idIn(params, 'id')
  await sql.transaction(async (session) => {
    const { name, team_id: projectId } = await findBatchExport(session, place, id)
    await session.query('delete from batch_export where id = $1', [id])
    const changes = [{ field: 'name', before: name, after: null }]
    const entry = {
      organizationId: place.organizationId,
      projectId,
      activity: 'deleted',
      scope,
      itemId: id,
      changes,
    }
    await recordActivity(session, { principal, address }, entry, clock.nowMs())
  })
}
