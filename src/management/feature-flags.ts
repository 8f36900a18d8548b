// /api/projects/:project_id/feature_flags/: a project's flags. There is no DELETE: as upstream, a flag is deleted by
// PATCH {"deleted": true} and may be restored, so that its history stays.

import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import type { Clock } from '../lib/clock.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { changing } from './definition-writes.ts'
import {
  type FeatureFlagRow,
  featureFlagInput,
  featureFlagOf,
  featureFlagSchema,
  selectFeatureFlags,
} from './feature-flag-rows.ts'
import { changeFeatureFlag, createFeatureFlag, findFeatureFlag } from './feature-flag-writes.ts'
import { idOf } from './row-id.ts'
import { containsText, SqlValues } from './sql-values.ts'

const listPath = '/api/projects/:project_id/feature_flags'
const itemPath = '/api/projects/:project_id/feature_flags/:id'

const listQuery = Type.Object({
  active: Type.Optional(Type.Boolean({ description: 'Only active flags, or only inactive ones.' })),
  type: Type.Optional(Type.Enum(['boolean', 'multivariate', 'experiment', 'remote_config'])),
  search: Type.Optional(Type.String({ description: 'Only flags with this in their key or name.' })),
  created_by_id: Type.Optional(Type.Integer({ description: 'Only flags of the user of this id.' })),
  ...pageQuery,
})

interface FlagFilter {
  readonly active?: boolean
  readonly type?: string
  readonly search?: string
  readonly created_by_id?: number
}

const hasVariants = `coalesce(jsonb_array_length(
  case when jsonb_typeof(filters #> '{multivariate,variants}') = 'array' then filters #> '{multivariate,variants}' end
  ), 0) > 0`

const conditionsByType: Readonly<Record<string, string>> = {
  boolean: `not ${hasVariants} and not is_remote_configuration`,
  multivariate: hasVariants,
  experiment: 'false', // there are none
  remote_config: 'is_remote_configuration',
}

const item = {
  path: itemPath,
  tag: 'feature_flags',
  query: null,
  status: 200,
  response: featureFlagSchema,
} as const

export function featureFlagOperations(sealer: Sealer, clock: Clock): Operation[] {
  const list = projectOperation({
    method: 'GET',
    path: listPath,
    operationId: 'feature_flags_list',
    summary: 'List feature flags that are not deleted, newest first',
    tag: 'feature_flags',
    query: listQuery,
    body: null,
    status: 200,
    response: envelopeOf(featureFlagSchema),
    handle: async ({ project, sql, query, request, url }) => {
      const values = new SqlValues()
      values.add(project.id, 'integer')
      const page = await countedPage<FeatureFlagRow>(sql, {
        select: `${selectFeatureFlags} and not deleted${conditionOf(query, values)}`,
        params: values.list,
        order: 'created_at desc, id desc',
        url,
        page: pageOf(request.query),
      })
      return { ...page, results: page.results.map(featureFlagOf) }
    },
  })
  const create = projectOperation({
    method: 'POST',
    path: listPath,
    operationId: 'feature_flags_create',
    summary: 'Create a feature flag',
    tag: 'feature_flags',
    query: null,
    body: featureFlagInput,
    status: 201,
    response: featureFlagSchema,
    handle: ({ body, ...context }) =>
      changing(context, clock, (change) => createFeatureFlag(change, body, sealer)),
  })
  const retrieve = projectOperation({
    ...item,
    method: 'GET',
    operationId: 'feature_flags_retrieve',
    summary: 'Retrieve a feature flag, also a deleted one',
    body: null,
    handle: ({ project, sql, params }) => findFeatureFlag({ session: sql, project }, idOf(params.id)),
  })
  const changes = changeOperations(
    {
      input: featureFlagInput,
      name: 'feature_flags',
      put: 'Change a feature flag; what may be left out stays as it is',
      patch: 'Change some fields of a feature flag, delete it or restore it',
    },
    (verb) =>
      projectOperation({
        ...item,
        ...verb,
        handle: ({ body, params, ...context }) =>
          changing(context, clock, (change) => changeFeatureFlag(change, idOf(params.id), body, sealer)),
      }),
  )
  return [list, create, retrieve, ...changes]
}

function conditionOf({ active, type, search, created_by_id }: FlagFilter, values: SqlValues): string {
  const conditions = ['']
  if (active !== undefined) conditions.push(active ? 'active' : 'not active')
  if (type !== undefined) conditions.push(`(${conditionsByType[type]})`)
  if (search)
    conditions.push(`(${containsText('key', search, values)} or ${containsText('name', search, values)})`)
  if (created_by_id !== undefined)
    conditions.push(`feature_flag.created_by = ${values.add(created_by_id, 'bigint')}`)
  return conditions.join(' and ')
}
