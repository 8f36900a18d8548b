// Batch exports as the API shows them: what may be written, what is read, and how.

import { jsonField } from '../api/input-schema.ts'
import { Type } from '../api/schema.ts'
import { destinationTypes } from '../exports/destination-keys.ts'
import { intervals } from '../exports/interval.ts'
import { runSchema, selectLatestRuns, showLatestRun } from './batch-export-run-rows.ts'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
const choice = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal<T>(value)))
const moment = nullable(Type.String({ format: 'date-time' }))

/** Any keys: which of them mean something depends on the type. */
const config = nullable(
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
)
const nameField = Type.String({ minLength: 1, maxLength: 400 })
const models = ['events', 'persons', 'sessions'] as const

const optionalFields = {
  model: Type.Optional(nullable(choice(models))),
  paused: Type.Optional(Type.Boolean()),
  last_paused_at: Type.Optional(moment),
  start_at: Type.Optional(moment),
  end_at: Type.Optional(moment),
  hogql_query: Type.Optional(nullable(Type.String())),
  filters: Type.Optional(jsonField),
}

/** What POST and PUT take. */
export const batchExportInput = Type.Object({
  name: nameField,
  destination: Type.Object({ type: choice(destinationTypes), config: Type.Optional(config) }),
  interval: choice(intervals),
  ...optionalFields,
  token: Type.Optional(Type.String({ description: 'API key of the project, where the path names none.' })),
  api_key: Type.Optional(Type.String({ description: 'The same as `token`.' })),
})

/** What PATCH takes. */
export const batchExportPatch = Type.Object({
  name: Type.Optional(nameField),
  destination: Type.Optional(
    Type.Object({ type: Type.Optional(choice(destinationTypes)), config: Type.Optional(config) }),
  ),
  interval: Type.Optional(choice(intervals)),
  ...optionalFields,
})

export const batchExportSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  team_id: Type.Integer(),
  name: Type.String(),
  model: choice(models),
  destination: Type.Object({ type: Type.String(), config }),
  interval: choice(intervals),
  paused: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  last_updated_at: Type.String({ format: 'date-time' }),
  last_paused_at: moment,
  start_at: moment,
  end_at: moment,
  latest_runs: Type.Array(runSchema, { description: 'The last ten, newest first.' }),
  hogql_query: nullable(Type.String()),
  schema: jsonField,
  filters: jsonField,
})

/** Fields of the audit log. */
export const batchExportFields = [
  'name',
  'model',
  'destination',
  'interval',
  'paused',
  'start_at',
  'end_at',
  'hogql_query',
  'filters',
]

/** A row of `selectBatchExports`. */
export interface BatchExportRow {
  readonly id: string
  readonly team_id: number
  readonly latest_runs: readonly object[]
  readonly [field: string]: unknown
}

/** Selects batch exports of the organization $1, or only of its project $2. */
export const selectBatchExports = `
  select batch_export.id, project_id as team_id, batch_export.name, model,
    jsonb_build_object('type', destination_type, 'config', destination_config) as destination, interval, paused,
    batch_export.created_at, last_updated_at, last_paused_at, start_at, end_at, hogql_query,
    query_schema as schema, filters, ${selectLatestRuns} as latest_runs
  from batch_export join project on project.id = batch_export.project_id
  where project.organization_id = $1 and ($2::integer is null or project.id = $2)`

/** Makes a row what the API shows, and returns it. */
export function batchExportOf(row: BatchExportRow): BatchExportRow {
  row.latest_runs.forEach(showLatestRun)
  return row
}
