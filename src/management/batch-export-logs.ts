// What batch exports say of themselves, newest first.

import type { Operation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import { exportOperation, idIn, pageOfExport } from './batch-export-operation.ts'

const levels = ['DEBUG', 'LOG', 'INFO', 'WARNING', 'ERROR']
const limitDefault = 50
const limitMax = 500

const logSchema = Type.Object({
  log_source_id: Type.String({ format: 'uuid', description: 'The batch export.' }),
  instance_id: Type.String({ description: 'The run.' }),
  timestamp: Type.String({ format: 'date-time' }),
  level: Type.String({ description: `${levels.join(', ')}.` }),
  message: Type.String(),
})

const query = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax })),
  offset: pageQuery.offset,
  after: Type.Optional(Type.String({ format: 'date-time', description: 'Exclusive.' })),
  before: Type.Optional(Type.String({ format: 'date-time', description: 'Exclusive.' })),
  level: Type.Optional(Type.String({ description: 'Levels, with commas between.' })),
  search: Type.Optional(Type.String({ description: 'Part of the message, in any case.' })),
  instance_id: Type.Optional(Type.String({ description: 'Only of this run.' })),
})

export function batchExportLogs(): Operation[] {
  return exportOperation({
    method: 'GET',
    path: '/:id/logs',
    operationId: 'batch_exports_logs',
    summary: 'List what a batch export has logged, newest first',
    query,
    body: null,
    status: 200,
    response: envelopeOf(logSchema),
    handle: (context) => {
      const { params, query, request } = context
      const { after, before, level, search, instance_id } = query
      const id = idIn(params, 'id')
      return pageOfExport(context, {
        select: `select id as list_id, batch_export_id as log_source_id, instance_id, timestamp, level, message
          from batch_export_log where batch_export_id = $1
            and ($2::timestamptz is null or timestamp > $2) and ($3::timestamptz is null or timestamp < $3)
            and ($4::text[] is null or level = any ($4)) and ($5::text is null or instance_id = $5)
            and ($6::text is null or strpos(lower(message), lower($6)) > 0)`,
        params: [id, after || null, before || null, levelsOf(level), instance_id || null, search || null],
        key: ['list_id'],
        order: 'timestamp desc, list_id desc',
        page: { ...pageOf(request.query), limit: query.limit ?? limitDefault },
      })
    },
  })
}

function levelsOf(given: string | undefined): string[] | null {
  const named = (given ?? '').split(',').flatMap((level) => level.trim().toUpperCase() || [])
  const unknown = named.find((level) => !levels.includes(level))
  if (unknown !== undefined) {
    const detail = `"${unknown.slice(0, 100)}" is not a valid choice.`
    throw new ServiceError('invalid_choice', { detail, attr: 'level' })
  }
  return named.length === 0 ? null : named
}
